import { isFilePath } from "../files/run-files.ts";

/** Characters of a URL. */
const maxUrl = 2_048;

/** It begins with a scheme. A path with a colon in its first name is written as `/tmp/a:b`. */
const hasScheme = (text: string): boolean => /^[a-z][a-z0-9+.-]*:/iu.test(text);

/** What the value of a `file` prop must be, in words, or undefined if it is valid. The sandbox has the same rule for values of expressions. */
export const fileComplaint = (value: unknown): string | undefined =>
  typeof value === "string" && (hasScheme(value) ? isUrl(value) : isFilePath(value.replace(/^\/tmp\//u, "")))
    ? undefined
    : "a path below /tmp such as /tmp/report.pdf, or an http or https URL";

/** Without a password: messages show it. */
const isUrl = (text: string): boolean => /^https?:\/\/[^/?#@]+(?:[/?#]|$)/iu.test(text) && text.length <= maxUrl && URL.canParse(text);
