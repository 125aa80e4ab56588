import { TLSSocket, type PeerCertificate, type SecureContext } from "node:tls";
import { buildConnector } from "undici";
import type { Egress } from "./egress.ts";

const certificates = new WeakMap<Error, PeerCertificate>();

/** The certificate that was rejected with this error, if {@link createConnector} made the connection. */
export const certificateOf = (error: Error): PeerCertificate | undefined => certificates.get(error);

export interface ConnectorOptions {
  /** In ms, for the connection and the handshake. */
  readonly timeout: number;
  /** With trusted authorities. Default: the public ones. */
  readonly secureContext?: SecureContext;
}

/**
 * For undici's `connect`: connects to addresses that the egress policy allows, and keeps rejected certificates. Node drops them with the
 * socket, and most errors contain neither date nor issuer.
 */
export function createConnector(lookup: Egress["lookup"] | undefined, options: ConnectorOptions): buildConnector.connector {
  const connect = buildConnector({ ...options, ...(lookup === undefined ? {} : { lookup }) });
  return (options, callback) => {
    // Undici's types omit that it returns the socket.
    const socket: unknown = connect(options, callback);
    if (socket instanceof TLSSocket) keepCertificate(socket);
  };
}

/** Node destroys the socket while the certificate is still readable, and reports the error only afterwards. */
function keepCertificate(socket: TLSSocket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    const certificate = error === undefined || socket.destroyed ? undefined : socket.getPeerCertificate();
    if (error !== undefined && certificate?.valid_to !== undefined) certificates.set(error, certificate);
    return destroy(error);
  };
}
