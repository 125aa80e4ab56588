/** Names such as `authorization`, `x-original-authorization`, `set-cookie`, `x-api-key`, `x-auth-token` and `x-csrf-token`. */
const credential =
  /authori[sz]ation|authentication|cookie|jwt|passw|token|secret|credential|session|(?:api|auth|access|private)[-_]?key|^x-auth$/;

/** Whether the value of an HTTP header is a credential by its name. Signatures of webhooks are not: each is valid for one request. */
export function isHiddenHeader(name: string): boolean {
  return credential.test(name.toLowerCase());
}
