import type { Configuration } from "../platform/process/settings/configuration.ts";
import type { Logger } from "../platform/telemetry/logger.ts";
import type { StartedTraces } from "../platform/telemetry/traces.ts";
import { privateAuthorities } from "./private-authorities.ts";

/** Undefined if no endpoint for traces is configured: then their code, about 20 MB, is not loaded. */
export async function tracesOf(configuration: Configuration, version: string, logger: Logger): Promise<StartedTraces | undefined> {
  const { tracesEndpoint: endpoint, tracesShare, roles } = configuration;
  if (endpoint === undefined) return undefined;
  const { startTraces } = await import("../platform/telemetry/traces.ts");
  const service = roles.length === 1 ? `headwater-${roles[0]}` : "headwater";
  const trusted = privateAuthorities("OTEL_EXPORTER_OTLP_CERTIFICATE", configuration, logger);
  return startTraces({ endpoint, share: tracesShare, service, version, log: logger, trusted });
}
