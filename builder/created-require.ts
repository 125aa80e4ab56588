const declared = /([\w$]+)(\s*=\s*(?:\/\*[^*]*\*\/\s*)?[\w$.]*createRequire[\w$]*\(\s*import\.meta\.url\s*\))/gi;
/** Of the same length as `require`, so that columns stay what they are. */
const standIn = "_equire";

/**
 * ES modules that want `require` make one of their own, by `createRequire(import.meta.url)`, and what they ask it for would not be
 * bundled. Here its calls with a name become calls of `require`, which the bundler follows; all else stays with what they made.
 */
export function withPlainRequire(text: string): string {
  if (!/createRequire[\w$]*\(\s*import\.meta\.url/i.test(text)) return text;
  const names = new Set(Array.from(text.matchAll(declared), ([, name = ""]) => name));
  const own = names.has("require") ? text.replaceAll(/(?<![\w$.])require\b(?!\(\s*["'])/g, standIn) : text;
  // A short name is a bundler's, and may be something else's in the next function.
  const others = [...names].filter((name) => name !== "require" && /req/i.test(name)).map((name) => name.replaceAll("$", "\\$"));
  if (others.length === 0) return own;
  return own.replaceAll(new RegExp(`(?<![\\w$.])(?:${others.join("|")})\\((?=\\s*["'])`, "g"), "require(");
}
