import { defaultChangesElsewhereMs, type OperatorConfig, type OperatorPorts } from "../ports.ts";
import { spread } from "../spread.ts";
import type { Observed } from "./observed.ts";
import { blockedBy } from "./policies.ts";
import { hasLiveSecrets } from "./secret-props.ts";

/** Between two looks at what is missing: as long as it has been missing, within these. */
const shortestMs = 2_000;
const longestMs = 30_000;
/** For an address that cannot be read. */
const longestForAddressMs = 300_000;

/** When to look again at what nobody tells us of; undefined for a source that needs nothing of that kind. */
export function lookAgainAfterMs(
  observed: Observed,
  { changesElsewhereMs = defaultChangesElsewhereMs }: Pick<OperatorConfig, "changesElsewhereMs">,
  ports: Pick<OperatorPorts, "clock" | "random">,
): number | undefined {
  const { source } = observed;
  if (source.metadata.deletionTimestamp !== undefined) return undefined;
  if (blockedBy(observed)?.lookAgain === true) {
    const since = source.status.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
    const blockedMs = since === undefined ? 0 : ports.clock.now() - Date.parse(since);
    const longest = source.spec.url === undefined ? longestMs : longestForAddressMs;
    return spread(Math.min(longest, Math.max(shortestMs, blockedMs)), ports);
  }
  const isLive = hasLiveSecrets(source) || (observed.standing !== undefined && hasLiveSecrets(observed.standing.version));
  return source.spec.codeFrom !== undefined || isLive ? spread(changesElsewhereMs, ports) : undefined;
}
