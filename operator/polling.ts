import type { Condition } from "../crds/resource.ts";
import type { OperatorPorts } from "./ports.ts";

/** How often Secrets, ConfigMaps and memberships are read, because changes of them are not watched. */
export const defaultExternalPollMs = 120_000;
/** How often to check for an owner where changes of the namespace's label are not watched. */
export const ownerRetryMs = 30_000;

/** Randomizes a delay to 75–100 %, so that resources created together are not polled together forever. */
export function spread(ms: number, { random }: Pick<OperatorPorts, "random">): number {
  return ms * (0.75 + random() / 4);
}

/** Polling interval for missing things: as long as they have been missing, within these bounds. */
const minBlockedPollMs = 2_000;
const maxBlockedPollMs = 30_000;
/** Upper bound for a URL that cannot be read. */
const maxUrlPollMs = 300_000;

/** Delay until the next look at something missing that is not watched. @param isUrl it may be a URL */
export function pollBlockedMs(
  { conditions }: { readonly conditions?: readonly Condition[] | undefined },
  isUrl: boolean,
  ports: Pick<OperatorPorts, "clock" | "random">,
): number {
  const since = conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
  const blockedMs = since === undefined ? 0 : ports.clock.now() - Date.parse(since);
  return spread(Math.min(isUrl ? maxUrlPollMs : maxBlockedPollMs, Math.max(minBlockedPollMs, blockedMs)), ports);
}
