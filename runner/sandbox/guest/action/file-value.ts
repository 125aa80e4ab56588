import { isObject } from "../component/component.ts";
import type * as urls from "../web/url/url.ts";

// Evaluated with the first URL.
declare function require(path: "../web/url/url.ts"): typeof urls;

/** Characters of a URL, and of a path. */
const maxUrl = 2_048;
const maxPath = 1_024;
const wanted = "a path below /tmp such as /tmp/report.pdf, or an http or https URL";

/** It begins with a scheme. A path with a colon in its first name is written as `/tmp/a:b`. */
export const isUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]*:/iu.test(text);

/** What the value of a `file` prop must be, in words, or undefined if it is valid: the rule of domain/component/file-props.ts. */
export function fileMisfit(given: unknown): string | undefined {
  // As JSON, a file of `$.files` is `{path, name}`.
  const value = isObject(given) ? given["path"] : given;
  if (typeof value !== "string") return wanted;
  if (isUrl(value))
    return /^https?:\/\/[^/?#]/iu.test(value) && value.length <= maxUrl && require("../web/url/url.ts").URL.canParse(value)
      ? undefined
      : wanted;
  return isPath(value.startsWith("/tmp/") ? value.slice(5) : value) ? undefined : wanted;
}

const isPath = (path: string): boolean =>
  path.length <= maxPath &&
  path.isWellFormed() &&
  !path.includes("\0") &&
  path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
