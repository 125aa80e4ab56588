import { defaultExternalPollMs, pollBlockedMs, spread } from "../../polling.ts";
import type { OperatorConfig, OperatorPorts } from "../../ports.ts";
import type { Observed } from "../observe/observed.ts";
import { blockedBy } from "./policies.ts";
import { hasLiveSecrets } from "../../configured/secret-props.ts";

/** Delay until the next poll of things that are not watched; undefined for a source without any. */
export function pollAfterMs(
  observed: Observed,
  { externalPollMs = defaultExternalPollMs }: Pick<OperatorConfig, "externalPollMs">,
  ports: Pick<OperatorPorts, "clock" | "random">,
): number | undefined {
  const { source } = observed;
  if (source.metadata.deletionTimestamp !== undefined) return undefined;
  if (blockedBy(observed)?.poll === true) return pollBlockedMs(source.status, source.spec.url !== undefined, ports);
  const isLive = hasLiveSecrets(source) || (observed.fallback !== undefined && hasLiveSecrets(observed.fallback.version));
  return source.spec.codeFrom !== undefined || isLive ? spread(externalPollMs, ports) : undefined;
}
