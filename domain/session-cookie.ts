/**
 * Cookie of a session of the console. Browsers send cookies to every port of a host, so the endpoints of sources, whose code is not
 * trusted, may receive it: ingress removes it from requests, and refuses to set it.
 */
export const sessionCookie = "headwater_session";

/** The value of a cookie in a Cookie header (RFC 6265, section 5.4); undefined if it is absent. */
export function cookieValue(header: string | undefined, name: string): string | undefined {
  const pair = pairsOf(header ?? "").find((text) => nameOf(text) === name);
  return pair?.slice(pair.indexOf("=") + 1).trim();
}

/** A Cookie header without one cookie; undefined if nothing remains. */
export function withoutCookie(header: string, name: string): string | undefined {
  const rest = pairsOf(header).filter((text) => nameOf(text) !== name);
  return rest.length === 0 ? undefined : rest.join("; ");
}

/** Whether a Set-Cookie header sets the cookie. */
export const setsCookie = (header: string, name: string): boolean => nameOf(header) === name;

const pairsOf = (header: string): readonly string[] =>
  header
    .split(";")
    .map((text) => text.trim())
    .filter((text) => text !== "");

const nameOf = (pair: string): string => (pair.split(/[=;]/, 1)[0] ?? "").trim();
