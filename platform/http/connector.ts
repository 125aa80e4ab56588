import { TLSSocket, type PeerCertificate } from "node:tls";
import { buildConnector } from "undici";
import type { Egress } from "./egress.ts";

const certificates = new WeakMap<Error, PeerCertificate>();

/** The certificate that was refused with this error, if {@link createConnector} made the connection. */
export const certificateOf = (error: Error): PeerCertificate | undefined => certificates.get(error);

/**
 * For undici's `connect`: connects to addresses that the egress policy allows, and remembers refused certificates. Node drops them with
 * the socket, and most of these errors name neither the date nor the issuer.
 */
export function createConnector(lookup: Egress["lookup"] | undefined, timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout, ...(lookup === undefined ? {} : { lookup }) });
  return (options, callback) => {
    // Undici's types leave out that it returns the socket.
    const socket: unknown = connect(options, callback);
    if (socket instanceof TLSSocket) keepCertificate(socket);
  };
}

/** Node destroys the socket with the refusal while the certificate can still be read, and reports the error when it cannot any more. */
function keepCertificate(socket: TLSSocket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    const certificate = error === undefined || socket.destroyed ? undefined : socket.getPeerCertificate();
    if (error !== undefined && certificate?.valid_to !== undefined) certificates.set(error, certificate);
    return destroy(error);
  };
}
