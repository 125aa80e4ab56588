import type { Deployment } from "../../../domain/source/deployment.ts";
import type { RunError } from "../../../domain/run-products.ts";
import type { Hook } from "../../../domain/trigger.ts";
import type { Observed } from "../observe/observed.ts";
import type { Step } from "./step.ts";

/** Has the deployment this hook, with fewer than `maxAttempts` failed runs and no success in this generation? */
export function hookNeeded(observed: Observed, hook: Hook, deployment: Deployment, maxAttempts: number): boolean {
  if (!deployment.hooks.includes(hook)) return false;
  const record = observed.hooks[hook];
  if (record?.generation !== deployment.generation) return true;
  return record.error !== null && record.attempts < maxAttempts;
}

/** `deploy` must succeed once in the life of a source. After a failure it runs again with the next change. */
export function deployHookNeeded(observed: Observed, deployment: Deployment): boolean {
  const record = observed.hooks.deploy;
  if (record !== undefined && (record.error === null || record.generation === deployment.generation)) return false;
  return deployment.hooks.includes("deploy");
}

/** The hooks that must succeed before a new deployment with these hooks runs anything else. */
export function startHooks({ hooks }: Pick<Observed, "hooks">, defined: readonly Hook[]): readonly Hook[] {
  return (["deploy", "activate"] as const).filter((hook) => defined.includes(hook) && (hook !== "deploy" || hooks.deploy?.error !== null));
}

/** The next hook that a deployment starts with and that has not run for it. */
export function nextHook(observed: Observed, deployment: Deployment): Hook | undefined {
  if (deployHookNeeded(observed, deployment)) return "deploy";
  return hookNeeded(observed, "activate", deployment, 1) ? "activate" : undefined;
}

export function runHook(observed: Observed, deployment: Deployment, hook: Hook): Step {
  const record = observed.hooks[hook];
  const attempts = record?.generation === deployment.generation ? record.attempts : 0;
  return {
    do: "run-hook",
    pool: deployment.pool,
    source: deployment.source,
    owner: deployment.owner,
    hook,
    generation: deployment.generation,
    attempt: attempts + 1,
    discardEvents: hook === "deploy" && !observed.source.spec.emitOnDeploy,
  };
}

/** The error of a hook in this generation, if it failed. */
export function hookError(observed: Observed, hook: Hook, deployment: Deployment): RunError | undefined {
  const record = observed.hooks[hook];
  if (record?.generation !== deployment.generation) return undefined;
  return record.error ?? undefined;
}
