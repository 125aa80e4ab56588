/**
 * Request headers that belong to the connection, which the client sets itself (RFC 9110, section 7.6.1), and those of the body's length. With
 * `host`, a request could name another site than the one that the egress policy has judged.
 */
export const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
