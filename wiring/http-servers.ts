import { InvalidInput } from "../domain/errors.ts";
import { createBoundedServer, type BoundedServer, type ServerLimits } from "../platform/http/bounded-server.ts";
import type { ServerCertificate } from "../platform/http/tls-server.ts";
import { serverCertificate, type ServerFiles } from "../platform/tls/changing-files.ts";
import type { RoleContext } from "./context.ts";

type CreateServer = (limits: ServerLimits, onRequest: Parameters<typeof createBoundedServer>[1]) => BoundedServer;

/**
 * While the process stops, an idle connection stays open for this time, so that its next request gets a response with `Connection: close`
 * instead of a reset.
 */
const lingerMs = (stopTimeoutMs: number): number => Math.max(1_000, stopTimeoutMs / 10);

/** Servers of the API and of endpoints: HTTPS if there is a certificate. @throws InvalidInput when it is damaged or not of its key */
export function boundedServers(context: RoleContext): CreateServer {
  const certificate = certificateOf(context.configuration.serverFiles, context);
  const linger = { lingerMs: lingerMs(context.configuration.stopTimeoutMs) };
  return (limits, onRequest) => createBoundedServer({ ...limits, ...linger }, onRequest, certificate);
}

/** @throws InvalidInput when it is damaged or not of its key */
export function certificateOf(files: ServerFiles | undefined, { logger }: Pick<RoleContext, "logger">): ServerCertificate | undefined {
  if (files === undefined) return undefined;
  const { certificate, key } = files;
  try {
    return serverCertificate(files, (error) =>
      logger.error({ op: "certificate.read", err: error }, "the certificate has changed and is invalid: the previous one stays in use"),
    );
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidInput(`the certificate ${certificate} with the key ${key} cannot be used: ${why}`, {
      code: "invalid_configuration",
      cause,
    });
  }
}
