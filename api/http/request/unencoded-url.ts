import type { Warning } from "../../../domain/component/warning.ts";

const urlParameters = ["url", "component_url"];
const maxNamed = 5;
const maxShown = 80;

/**
 * Warns if a URL in the query is not encoded and has a query of its own: it ends at its first `&`, and what follows counts as parameters
 * of the request. The URL may contain a secret, so it is not repeated. @param target the request's path and query, as they were sent
 */
export function unencodedUrlWarnings(target: string, knownBody: readonly string[]): readonly Warning[] {
  const pairs = target.slice(target.indexOf("?") + 1).split("&");
  const at = pairs.findIndex((pair) => urlParameters.some((name) => knownBody.includes(name) && isUnencoded(pair, name)));
  const following = pairs.slice(at + 1).filter((pair) => pair !== "");
  if (!target.includes("?") || at < 0 || following.length === 0) return [];
  const [name = ""] = (pairs[at] ?? "").split("=");
  const named = following.slice(0, maxNamed).map((pair) => `'${(pair.split("=")[0] ?? "").slice(0, maxShown)}'`);
  const [kind, belong] = named.length === 1 ? ["a parameter", "it belongs"] : ["parameters", "they belong"];
  const message = `${name} ends at the first &, and ${named.join(", ")} after it counted as ${kind} of the request: if ${belong} to the URL, write & as %26, or send ${name} in the body`;
  return [{ code: "unencoded_url", message, path: name }];
}

/** Clients that encode write `?` as `%3F`. */
const isUnencoded = (pair: string, name: string): boolean => pair.startsWith(`${name}=`) && pair.includes("://") && pair.includes("?");
