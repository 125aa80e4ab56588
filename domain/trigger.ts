/**
 * Why an invocation exists. `configure` does not run a source, but calls a function of a component while a user configures it, see
 * domain/component/configure.ts. A `dry-run` stores nothing, see domain/invocation/dry-run.ts. A `resume` continues a suspended workflow run,
 * and a `control` cancels, pauses or resumes one for the API.
 */
export const triggers = ["timer", "http", "email", "event", "manual", "hook", "configure", "dry-run", "resume", "control"] as const;
export type Trigger = (typeof triggers)[number];

/** Functions of a component that run with the trigger `hook`. */
export const hooks = ["deploy", "activate", "deactivate"] as const;
export type Hook = (typeof hooks)[number];
