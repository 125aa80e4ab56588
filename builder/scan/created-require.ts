/**
 * All is bounded, and begins where a word begins: texts are hostile, and patterns that try each length of a megabyte's one word from
 * each of its letters take minutes, on the thread that all builds share.
 */
const word = "[\\w$]{0,100}";
const space = "\\s{0,100}";
const called = `createRequire${word}\\(${space}import\\.meta\\.url`;
const calling = new RegExp(called, "i");
const declared = new RegExp(
  `(?<![\\w$])([\\w$]{1,100})(${space}=${space}(?:/\\*[^*]{0,100}\\*/${space})?[\\w$.]{0,100}${called}${space}\\))`,
  "gi",
);
/** Of the same length as `require`, so that columns stay what they are. */
const standIn = "_equire";

/**
 * ES modules that need `require` create it with `createRequire(import.meta.url)`, which the bundler does not follow. Its calls with a
 * literal name become calls of `require`, which the bundler follows; other uses stay.
 */
export function withPlainRequire(text: string): string {
  if (!calling.test(text)) return text;
  const names = new Set(Array.from(text.matchAll(declared), ([, name = ""]) => name));
  const own = names.has("require") ? text.replaceAll(/(?<![\w$.])require\b(?!\(\s{0,100}["'])/g, standIn) : text;
  // A short name comes from a minifier, and may mean something else in the next function.
  const others = [...names].filter((name) => name !== "require" && /req/i.test(name)).map((name) => name.replaceAll("$", "\\$"));
  if (others.length === 0) return own;
  return own.replaceAll(new RegExp(`(?<![\\w$.])(?:${others.slice(0, 100).join("|")})\\((?=\\s{0,100}["'])`, "g"), "require(");
}
