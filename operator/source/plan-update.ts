import type { Observed } from "./observed.ts";
import type { Fresh } from "./fresh.ts";
import { hookNeeded, runHook } from "./hooks.ts";
import { wasReady } from "./settled.ts";
import type { Step } from "./step.ts";
import { secretsFor, setTimers, wantedDeployment, writeEndpoint, type Wanted } from "./wanted.ts";

/** The entry is missing, or made from an older generation or another build: end the old one properly, then write the new one. */
export function planUpdate(observed: Observed, wanted: Wanted, fresh: Fresh): readonly Step[] {
  const { source, deployed } = observed;
  const deactivation = planDeactivation(observed, wanted);
  if (deactivation.length > 0) return deactivation;
  const deployment = wantedDeployment(observed, wanted, fresh);
  const write: Step = { do: "write-deployment", deployment, secrets: secretsFor(observed, wanted) };
  const endpoint = writeEndpoint(observed, wanted, source.spec.active);
  // Ready, yet the entry is gone: the streams were lost. Restore it without its hooks; the entry comes last, since it is
  // by the entry that the next plan sees whether all of this was done.
  if (deployed === undefined && wasReady(source))
    return [...(source.spec.active ? setTimers(observed, wanted, deployment.generation) : []), ...endpoint, write];
  return [{ do: "end-timers", source: wanted.id }, write, ...endpoint];
}

/** What is deployed stops by itself, with the code, the owner and the runners it has. None: it has stopped, or needs not. */
export function planDeactivation(observed: Observed, { id }: Pick<Wanted, "id">): readonly Step[] {
  const { deployed } = observed;
  if (deployed?.active !== true || !hookNeeded(observed, "deactivate", deployed, 1)) return [];
  return [{ do: "end-timers", source: id }, runHook(observed, deployed, "deactivate")];
}
