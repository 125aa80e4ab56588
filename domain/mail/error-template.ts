const maxRead = 1_000;
const maxTemplate = 500;

/**
 * What varies between repetitions of one error, in the order of replacement. No pattern reads a character more than a bounded number of
 * times. A quote within a word, as in `doesn't`, begins no quoted text.
 */
const variableParts: readonly (readonly [pattern: RegExp, replacement: string | ((token: string) => string)])[] = [
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'`<>]+/giu, "<url>"],
  [/"[^"]*"|`[^`]*`|“[^“”]*”|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])/gu, "<text>"],
  [/[^\s@<>"'(),;:]{1,64}@[^\s@<>"'(),;:]+/gu, "<address>"],
  [/\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?/gu, "<time>"],
  [/(?<![\p{N}:])\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?!\p{N})/gu, "<time>"],
  [/[\p{L}\p{N}_-]+/gu, ofToken],
  [/<number>(?:[.,:/]<number>)+/gu, "<number>"],
];

/**
 * The message of an error without its variable parts: numbers, times, ids, addresses, URLs and quoted texts. Messages with the same result
 * count as one error.
 */
export function errorTemplate(message: string): string {
  const shown = message.slice(0, maxRead).toWellFormed().replace(/\s+/gu, " ").trim();
  // Each pattern is used with one kind of replacement; TypeScript needs them apart.
  const template = variableParts.reduce(
    (text, [pattern, replacement]) =>
      typeof replacement === "string" ? text.replace(pattern, replacement) : text.replace(pattern, replacement),
    shown,
  );
  return template.slice(0, maxTemplate);
}

/** Words with digits, such as `r_0k3v` or `order-17`, and long hexadecimal ones are ids. */
function ofToken(token: string): string {
  if (/^-?\p{N}+$/u.test(token)) return "<number>";
  return /\p{N}/u.test(token) || /^[0-9a-f-]{8,}$/iu.test(token) ? "<id>" : token;
}
