import { defaultExternalPollMs, spread } from "../../polling.ts";
import type { OperatorConfig, OperatorPorts } from "../../ports.ts";
import type { Observed } from "../observe/observed.ts";
import { blockedBy } from "./policies.ts";
import { hasLiveSecrets } from "../apply/secret-props.ts";

/** Polling interval for missing things: as long as they have been missing, within these bounds. */
const minPollMs = 2_000;
const maxPollMs = 30_000;
/** Upper bound for a URL that cannot be read. */
const maxUrlPollMs = 300_000;

/** Delay until the next poll of things that are not watched; undefined for a source without any. */
export function pollAfterMs(
  observed: Observed,
  { externalPollMs = defaultExternalPollMs }: Pick<OperatorConfig, "externalPollMs">,
  ports: Pick<OperatorPorts, "clock" | "random">,
): number | undefined {
  const { source } = observed;
  if (source.metadata.deletionTimestamp !== undefined) return undefined;
  if (blockedBy(observed)?.poll === true) {
    const since = source.status.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
    const blockedMs = since === undefined ? 0 : ports.clock.now() - Date.parse(since);
    const maxMs = source.spec.url === undefined ? maxPollMs : maxUrlPollMs;
    return spread(Math.min(maxMs, Math.max(minPollMs, blockedMs)), ports);
  }
  const isLive = hasLiveSecrets(source) || (observed.fallback !== undefined && hasLiveSecrets(observed.fallback.version));
  return source.spec.codeFrom !== undefined || isLive ? spread(externalPollMs, ports) : undefined;
}
