import fc from "fast-check";
import { anything, text, type Subject } from "./node-differential.ts";

/** `path`, `url`, `querystring`, `util` and decoders beside Node's own, on generated inputs. */
const segment = fc.constantFrom("a", "b.c", ".", "..", "", ".x", "x.", "é", " ", "a b", "index.html", "..a");
const posixPath = fc
  .tuple(fc.constantFrom("", "/", "./", "../"), fc.array(segment, { maxLength: 6 }))
  .map(([start, parts]) => (start + parts.join("/")).replaceAll(/\/{2,}/g, "/"));
const win32Path = fc
  .tuple(fc.constantFrom("", "C:\\", "C:", "c:/", "\\", "/"), fc.array(segment, { maxLength: 5 }), fc.constantFrom("\\", "/"))
  .map(([start, parts, separator]) => (start + parts.join(separator)).replaceAll(/[\\/]{2,}/g, separator));

const suffix = fc.constantFrom(".c", "c", "b.c", ".x", "x.", "a");

const pathBody = (module: string): string =>
  `const p = require("path").${module}; const [a, b, suffix] = input; return [p.normalize(a), p.dirname(a), p.basename(a), p.basename(a) && !a.endsWith(p.sep) && p.basename(a, suffix), p.extname(a), p.isAbsolute(a), p.join(a, b), ...(p.basename(a) === ".." ? [] : [p.parse(a), p.format(p.parse(a))]), p.toNamespacedPath(p.resolve(ROOT, a)), p.resolve(ROOT, a, b), p.relative(p.resolve(ROOT, a), p.resolve(ROOT, b))];`;

const host = fc.constantFrom("a.com", "A.Com", "a.com.", "1.2.3.4", "[::1]", "localhost", "a_b.c", "ü.de", "", "x-y.z", "%41.com");
const address = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("http:", "https:", "ftp:", "file:", "mailto:", "javascript:", "x:", "ws:", ""),
      fc.constantFrom("//", "/", "", "///", "\\\\"),
      fc.constantFrom("", "u@", "u:p@", "u%20:p:q@", "@", "a@b@"),
      host,
      fc.constantFrom("", ":80", ":8080", ":", ":0", ":443"),
      fc.constantFrom("", "/", "/a/b", "/a b", "/%zz", "/../c", "a", "/é", "/a;b=c"),
      fc.constantFrom("", "?", "?a=1&b=2", "?a[]=1", "?q=a b'", "?x=%E4&y"),
      fc.constantFrom("", "#", "#h", "#a b"),
    )
    .map((parts) => parts.join("")),
  text,
);

const usual = fc
  .tuple(
    fc.constantFrom("http://a.com", "https://u:p@b.org:8080", "http://c.d/e/f/g"),
    fc.constantFrom("", "/", "/a/b", "/a/b/", "/a/../b?c"),
    fc.constantFrom("", "?q=1", "#h"),
  )
  .map((parts) => parts.join(""));
const link = fc.constantFrom(
  "",
  "x",
  "/x",
  "../x",
  "./x/../y",
  "..",
  ".",
  "?z",
  "#f",
  "//h.i/j",
  "https://k.l",
  "http://m/n?o",
  "mailto:a@b.c",
  "../../../../p",
  "q/.",
  "r/..",
  "a b",
  "/é",
);
const wellFormed = text.filter((each) => each.isWellFormed());

const legacy = `const { parse, format } = require("url"); const show = (u) => ({ ...u });`;

export const textSubjects: Readonly<Record<string, Subject>> = {
  "path.posix": { inputs: fc.tuple(posixPath, posixPath, suffix), body: pathBody("posix").replaceAll("ROOT", `"/tmp"`), runs: 400 },
  "path.win32": {
    inputs: fc.tuple(
      win32Path,
      win32Path.map((path) => path.replace(/^c:/i, "")),
      suffix,
    ),
    body: pathBody("win32").replaceAll("ROOT", `"C:\\\\tmp"`),
    runs: 400,
  },
  "url.parse and url.format": {
    inputs: address,
    body: `${legacy} return attempt(() => [{ ...parse(input) }, { ...parse(input, true, true) }, format(parse(input)), parse(input).path]);`,
    runs: 400,
  },
  "url.resolve": { inputs: fc.tuple(usual, link), body: `return attempt(() => require("url").resolve(...input));`, runs: 400 },
  URL: {
    inputs: fc.tuple(address, fc.option(address)),
    body: `return attempt(() => { const u = input[1] === null ? new URL(input[0]) : new URL(input[0], input[1]); return [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.port, u.pathname, u.search, u.hash, [...u.searchParams]]; });`,
    runs: 400,
  },
  "the setters of URL": {
    inputs: fc.array(
      fc.tuple(
        fc.constantFrom("protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash", "href"),
        fc.oneof(address, host, text),
      ),
      { maxLength: 4 },
    ),
    body: `const u = new URL("http://user@example.com:81/a/b?c=d#e"); return [input.map(([name, to]) => attempt(() => { u[name] = to; return u.href; }))];`,
    runs: 300,
  },
  URLSearchParams: {
    inputs: fc.tuple(
      text,
      fc.array(
        fc.tuple(fc.constantFrom("append", "set", "delete", "get", "getAll", "has", "sort"), fc.constantFrom("a", "b", "é", ""), text),
        { maxLength: 5 },
      ),
    ),
    body: `const p = new URLSearchParams(input[0]); return [input[1].map(([name, key, to]) => name === "sort" ? p.sort() : name === "append" || name === "set" ? p[name](key, to) : p[name](key)), String(p), [...p], p.size];`,
  },
  "querystring.parse and unescape": {
    inputs: fc.tuple(text, fc.constantFrom("&", ";", "&&"), fc.constantFrom("=", ":", "==")),
    body: `const q = require("querystring"); return [q.parse(input[0]), q.parse(...input), q.parse(input[0], null, null, { maxKeys: 1 }), q.unescape(input[0]), [...q.unescapeBuffer(input[0])]];`,
    runs: 300,
  },
  "querystring.stringify and escape": {
    inputs: fc.tuple(
      fc.dictionary(
        wellFormed,
        fc.oneof(wellFormed, fc.integer(), fc.boolean(), fc.constant(null), fc.array(wellFormed, { maxLength: 3 })),
        { maxKeys: 4 },
      ),
      wellFormed,
    ),
    body: `const q = require("querystring"); return [attempt(() => q.stringify(input[0])), attempt(() => q.stringify(input[0], ";", ":")), attempt(() => q.escape(input[1]))];`,
    runs: 300,
  },
  "util.inspect": {
    inputs: fc.tuple(
      anything,
      fc.record(
        {
          depth: fc.constantFrom(0, 1, 2, null),
          compact: fc.constantFrom(0, 1, 3, false),
          breakLength: fc.constantFrom(20, 80, 200),
          maxArrayLength: fc.constantFrom(1, 3, 100),
          maxStringLength: fc.constantFrom(3, 1000),
        },
        { requiredKeys: [] },
      ),
    ),
    body: `const { inspect } = require("util"); const v = value(input[0]); return [inspect(v), inspect(v, input[1])];`,
    runs: 500,
  },
  "util.format": {
    inputs: fc.tuple(
      fc
        .array(fc.constantFrom("%s", "%d", "%i", "%f", "%j", "%O", "%c", "%%", "%x", "a", " ", "%"), { maxLength: 5 })
        .map((parts) => parts.join("")),
      fc.array(
        anything.filter((each) => !/__proto__|Array\.from/.test(each)),
        { maxLength: 4 },
      ),
    ),
    body: `const { format } = require("util"); const all = input[1].map(value); return [attempt(() => format(input[0], ...all)), attempt(() => format(...all))];`,
    runs: 400,
  },
  "util.isDeepStrictEqual": {
    inputs: fc.tuple(anything, anything, fc.boolean()),
    body: `const { isDeepStrictEqual } = require("util"); const a = value(input[0]); return [isDeepStrictEqual(a, value(input[input[2] ? 0 : 1])), isDeepStrictEqual([a], [structuredClone(a)])];`,
    runs: 300,
  },
  "deep equality of small values": {
    inputs: fc.tuple(
      ...[0, 1].map(() =>
        fc.constantFrom(
          "0",
          "-0",
          "1",
          "'1'",
          "null",
          "undefined",
          "NaN",
          "true",
          "[]",
          "[1]",
          "[,]",
          "[undefined]",
          "{}",
          "{a:1}",
          "{a:undefined}",
          "{a:'1'}",
          "new Set([1])",
          "new Set(['1'])",
          "new Set([{a:1}])",
          "new Map([[1,2]])",
          "new Map([[{},2]])",
          "new Date(0)",
          "new Date(NaN)",
          "/a/",
          "/a/g",
          "new Error('x')",
          "new TypeError('x')",
          "Object(1)",
          "Object('a')",
          "new Uint8Array(1)",
          "new Int8Array(1)",
          "new Float32Array([0])",
          "Object.create(null)",
          "new (class A {})()",
          "Symbol.iterator",
          "1n",
          "Object.assign([1],{a:1})",
          "(()=>{const a={};a.a=a;return a})()",
          "new ArrayBuffer(1)",
        ),
      ),
    ),
    body: `const [a, b] = input.map(value); const { isDeepStrictEqual } = require("util"); const assert = require("assert"); const passes = (act) => { try { act(); return true; } catch (e) { return e.code; } }; return [isDeepStrictEqual(a, b), passes(() => assert.deepEqual(a, b)), passes(() => assert.notDeepEqual(a, b)), passes(() => assert.deepStrictEqual(a, b)), passes(() => assert.notDeepStrictEqual(a, b)), passes(() => assert.equal(a, b)), passes(() => assert.strictEqual(a, b))];`,
    runs: 900,
  },
  "util.stripVTControlCharacters and toUSVString": {
    inputs: fc.tuple(text, fc.constantFrom("\u001b[31m", "\u001b]8;;http://x\u0007", "\u009b1m", "\u001b[0;1m", "")),
    body: `const u = require("util"); return [u.stripVTControlCharacters(input.join("") + input[0]), u.toUSVString(input[0])];`,
  },
  "util.parseArgs": {
    inputs: fc.tuple(
      fc.array(fc.constantFrom("-f", "--foo", "--foo=1", "--bar", "x", "--", "-fb", "--no-foo", "-b1", "--bar=x", "--unknown", "-b"), {
        maxLength: 6,
      }),
      fc.boolean(),
    ),
    body: `const { parseArgs } = require("util"); const r = attempt(() => parseArgs({ args: input[0], options: { foo: { type: "boolean", short: "f", multiple: input[1] }, bar: { type: "string", short: "b", default: "d" } }, allowPositionals: true, strict: input[1], allowNegative: true })); return r.threw ? r : [{ ...r.values }, r.positionals];`,
    runs: 400,
  },
  "util.parseEnv": {
    inputs: fc
      .array(
        fc
          .tuple(
            fc.constantFrom("A", "B_1", "export C", " D"),
            fc.constantFrom("=", " = ", ""),
            fc.constantFrom("1", "'x y'", '"a\\nb"', "`q`", "a #c", "'u", '"#"'),
          )
          .map((parts) => parts.join("")),
        { maxLength: 4 },
      )
      .map((lines) => lines.filter((line) => !/^export C ?=?\s*$/.test(line)).join("\n")),
    body: `return { ...require("util").parseEnv(input) };`,
  },
  string_decoder: {
    inputs: fc.tuple(
      fc.constantFrom("utf8", "utf16le", "base64", "base64url", "hex", "latin1", "ascii", "ucs2"),
      wellFormed,
      fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 4 }),
    ),
    body: `const { StringDecoder } = require("string_decoder"); const [name, text, cuts] = input; const bytes = /16|ucs/.test(name) ? Buffer.from(text.replace(/[\\ud800-\\udfff]/g, ""), "utf16le") : Buffer.from(text); const d = new StringDecoder(name); const ends = [...cuts.toSorted((a, b) => a - b), bytes.length]; return [ends.map((end, i) => d.write(bytes.subarray(ends[i - 1] ?? 0, end))), d.end(), d.encoding];`,
    runs: 400,
  },
  punycode: {
    inputs: fc.array(fc.constantFrom("a", "ü", "例", "😀", "-", "."), { maxLength: 8 }).map((parts) => parts.join("")),
    body: `const p = require("punycode"); return [attempt(() => p.toASCII(input)), attempt(() => p.encode(input)), attempt(() => p.toUnicode("xn--" + input)), p.ucs2.decode(input)];`,
  },
};
