const names: ReadonlySet<string> = new Set(["authorization", "cookie", "cookie2", "proxy-authorization", "set-cookie", "set-cookie2"]);

/** Names such as `x-api-key`, `x-auth-token` and `x-csrf-token`. */
const credential = /api-?key|auth-?key|access-?key|token|secret|password|credential|session-?id/;

/** Whether the value of an HTTP header is a credential by its name. Signatures of webhooks are not: each is valid for one request. */
export function isHiddenHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return names.has(lower) || credential.test(lower);
}
