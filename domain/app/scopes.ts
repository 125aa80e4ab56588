/** Scopes of a token response: a text with any separator, or a list. Undefined: the response has none, so those requested were granted. */
export function grantedScopes(given: unknown): readonly string[] | undefined {
  if (Array.isArray(given)) return given.filter((scope): scope is string => typeof scope === "string" && scope !== "");
  if (typeof given !== "string" || given.trim() === "") return undefined;
  return given.split(/[\s,;]+/).filter((scope) => scope !== "");
}

/** Requests for refresh tokens and identity, which services leave out of what they list as granted. */
const unlisted = new Set(["offline_access", "offline.access", "offline", "refresh_token", "openid", "profile", "email"]);

/** Wanted scopes that were not granted. Services shorten the addresses of their scopes, and change their case. */
export function missingScopes(wanted: readonly string[], granted: readonly string[] | undefined): readonly string[] {
  if (granted === undefined) return [];
  const short = new Set(granted.map(shortScope));
  return wanted.filter((scope) => !unlisted.has(scope.toLowerCase()) && !short.has(shortScope(scope)));
}

const shortScope = (scope: string): string => scope.slice(scope.lastIndexOf("/") + 1).toLowerCase();
