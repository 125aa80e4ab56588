import type { Deployment } from "../../domain/deployment.ts";
import type { Hook, RunError } from "../../domain/invocation.ts";
import type { Observed } from "./observed.ts";
import type { Step } from "./step.ts";

/** Has the deployment this hook, and has it run less often than it may for this generation? A success ends it. */
export function hookNeeded(observed: Observed, hook: Hook, deployment: Deployment, attempts: number): boolean {
  if (!deployment.hooks.includes(hook)) return false;
  const record = observed.hooks[hook];
  if (record?.generation !== deployment.generation) return true;
  return record.error !== null && record.attempts < attempts;
}

/** `deploy` runs once in the life of a source; one that failed runs again after the next change. */
export function deployHookNeeded(observed: Observed, deployment: Deployment): boolean {
  const record = observed.hooks.deploy;
  if (record !== undefined && (record.error === null || record.generation === deployment.generation)) return false;
  return deployment.hooks.includes("deploy");
}

/** The hook with which a deployment begins and that has not run for it yet. */
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
