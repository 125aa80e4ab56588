import { isObject } from "../component/component.ts";
import type * as urls from "../web/url/url.ts";

// Evaluated with the first URL.
declare function require(path: "../web/url/url.ts"): typeof urls;

/** Characters of a URL, and of a path. */
const maxUrl = 2_048;
const maxPath = 1_024;
const wanted = "a path below /tmp such as /tmp/report.pdf, or an http or https URL";

/**
 * Whether the value names a URL: a text that begins with a scheme, or the JSON of a file at a URL. A path with a colon in its first name is
 * written as `/tmp/a:b`, but one that `$.files` has given is no text of a person.
 */
export const namesUrl = (given: unknown): boolean =>
  isObject(given) ? /^https?:\/\//iu.test(String(given["path"])) : /^[a-z][a-z0-9+.-]*:/iu.test(String(given));

/** What the value of a `file` prop must be, in words, or undefined if it is valid: the rule of domain/component/file-props.ts. */
export function fileMisfit(given: unknown): string | undefined {
  // As JSON, a file of `$.files` is `{path, name}`.
  const value = isObject(given) ? given["path"] : given;
  if (typeof value !== "string") return wanted;
  if (namesUrl(given))
    return /^https?:\/\/[^/?#@]+(?:[/?#]|$)/iu.test(value) && value.length <= maxUrl && require("../web/url/url.ts").URL.canParse(value)
      ? undefined
      : wanted;
  return isPath(value.startsWith("/tmp/") ? value.slice(5) : value) ? undefined : wanted;
}

const isPath = (path: string): boolean =>
  path.length <= maxPath &&
  path.isWellFormed() &&
  !path.includes("\0") &&
  path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
