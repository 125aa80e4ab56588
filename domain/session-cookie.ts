/**
 * Cookies of a session of the console. Browsers send cookies to every port of a host, so the endpoints of sources, whose code is not
 * trusted, may receive one: ingress removes it from requests, and refuses to set it. Over https the name has the prefix `__Host-`, which
 * browsers accept from this host over https only, not from a host above or below it.
 */
export const sessionCookies = { http: "headwater_session", https: "__Host-headwater_session" } as const;

const names: readonly string[] = Object.values(sessionCookies);

/** The values of a cookie in a Cookie header (RFC 6265, section 5.4): a browser sends one for each path and domain that it was set for. */
export function cookieValues(header: string | undefined, name: string): readonly string[] {
  return pairsOf(header ?? "")
    .filter((pair) => nameOf(pair) === name)
    .map((pair) => pair.slice(pair.indexOf("=") + 1).trim());
}

/** A Cookie header without the cookies of sessions; undefined if nothing remains. */
export function withoutSession(header: string): string | undefined {
  const rest = pairsOf(header).filter((pair) => !names.includes(nameOf(pair)));
  return rest.length === 0 ? undefined : rest.join("; ");
}

/**
 * Whether a Set-Cookie header may give a browser a session. A cookie without a name counts: the browser sends only its value, which may
 * read `headwater_session=…`.
 */
export function setsSession(header: string): boolean {
  const [pair = ""] = header.split(";", 1);
  return !pair.includes("=") || nameOf(pair) === "" || names.includes(nameOf(pair));
}

const pairsOf = (header: string): readonly string[] =>
  header
    .split(";")
    .map((text) => text.trim())
    .filter((text) => text !== "");

const nameOf = (pair: string): string => (pair.split(/[=;]/, 1)[0] ?? "").trim();
