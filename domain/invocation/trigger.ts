/**
 * Why an invocation exists. `configure` does not run a source, but calls a function of a component while a user configures it, see
 * domain/component/configure.ts. A `dry-run` stores nothing, see domain/run/dry-run.ts. A `resume` continues a suspended workflow run.
 */
export const triggers = ["timer", "http", "event", "manual", "hook", "configure", "dry-run", "resume"] as const;
export type Trigger = (typeof triggers)[number];
