import type { SourceResource } from "../../../crds/source.ts";
import type { Build } from "../../../domain/component/definition.ts";
import { currentBuild } from "../../configured/component.ts";
import type { Observed } from "./observed.ts";

/** Has this generation been completed once? */
export function wasReady({ metadata, status }: SourceResource): boolean {
  return (status.conditions ?? []).some(
    ({ type, status: state, observedGeneration }) => type === "Ready" && state === "True" && observedGeneration === metadata.generation,
  );
}

/** Is the current deployment completed? An entry that was replaced since has another id than the status. */
export function isDone({ source, deployed }: Pick<Observed, "source" | "deployed">): boolean {
  return wasReady(source) && (deployed === undefined || source.status.deployment === deployed.id);
}

/** Is the entry made from this generation, this build and the current owner? */
export function isDeployed({ source, deployed, owner }: Pick<Observed, "source" | "deployed" | "owner">, build: Build): boolean {
  if (deployed === undefined || deployed.owner !== owner) return false;
  return (deployed.sourceGeneration ?? deployed.generation) === source.metadata.generation && deployed.bundle === build.bundle;
}

/** Nothing is left to do, judged without histories, Secrets and other outside state. */
export function isSettled(observed: Pick<Observed, "source" | "deployed" | "component" | "movesTo" | "owner">): boolean {
  const build = currentBuild(observed.component);
  return (
    observed.source.metadata.deletionTimestamp === undefined &&
    observed.owner !== undefined &&
    observed.movesTo === undefined &&
    build !== undefined &&
    observed.deployed !== undefined &&
    isDeployed(observed, build) &&
    isDone(observed)
  );
}
