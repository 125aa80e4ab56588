import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { minMaskedLength, SecretMask } from "../../../domain/secrets/secret-mask.ts";
import { cpuMsOf } from "../../support/cpu-time.ts";

const secret = "s3cr3t/k+y=42";
const mask = (values: unknown, text: string): string => new SecretMask(values).text(text);

describe("a secret in a text", () => {
  it.each([
    ["as it is", `key is ${secret}!`, "key is ***!"],
    ["twice", `${secret}${secret}`, "******"],
    ["in a query", `https://host/?key=${encodeURIComponent(secret)}&a=1`, "https://host/?key=***&a=1"],
    ["in a form", String(new URLSearchParams({ key: secret })), "key=***"],
    ["in a header of basic authentication", `Basic ${Buffer.from(`${secret}:`).toString("base64")}`, /^Basic \*\*\*.{0,3}$/],
    ["behind a user name", `Basic ${Buffer.from(`ada:${secret}`).toString("base64")}`, /^Basic YWRhO.?\*\*\*.{0,3}$/],
    ["in base64url", Buffer.from(`{"a":"${secret}??"}`).toString("base64url"), /\*\*\*/],
  ])("%s is masked", (_, text, expected) => {
    const masked = mask({ key: secret }, text);
    if (typeof expected === "string") expect(masked).toBe(expected);
    else expect(masked).toMatch(expected);
  });

  it("is masked in base64 at every offset", () => {
    for (const before of ["", "a", "ab", "abc"]) {
      const encoded = Buffer.from(`${before}${secret}:after`).toString("base64");
      expect(mask([secret], encoded)).toMatch(/^.{0,4}\*\*\*.{0,12}$/);
    }
  });

  it("is masked in JSON, which stays JSON", () => {
    const odd = 'quote " and \\ slash\nand more than one line';
    const masked = new SecretMask({ odd }).json(JSON.stringify({ error: `it was ${odd}` }));
    expect(JSON.parse(masked)).toEqual({ error: "it was ***" });
    expect(new SecretMask(["123456"]).json("[123456]")).toBe('"***"');
  });

  it("is masked line by line when it has several lines", () => {
    const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END PRIVATE KEY-----\n";
    expect(mask({ pem }, `'MIIEvQIBADANBgkqhkiG9w0B\\n' +`)).toBe("'***\\n' +");
    expect(mask({ pem }, `key: ${pem}`)).toBe("key: ***\n");
  });

  it("is masked up to the end of a truncated text", () => {
    const long = `begin-${"k".repeat(5_000)}-end`;
    expect(mask({ long }, `${long.slice(0, 3_000)} and on`)).toBe("*** and on");
    const before = "x".repeat(8_192 - 8);
    expect(mask([secret], before + secret.slice(0, 8))).toBe(`${before}***`);
    expect(mask([secret], secret.slice(0, 8))).toBe(secret.slice(0, 8));
  });

  it("is masked in credentials of accounts, whose ids are shown", () => {
    const props = { app: { authProvisionId: "apn_abcdef", $auth: { api_key: secret, nested: { token: "other-token" } } } };
    expect(mask(props, `apn_abcdef ${secret} other-token`)).toBe("apn_abcdef *** ***");
  });

  it("is not masked when it is shorter than six characters", () => {
    expect(minMaskedLength).toBe(6);
    expect(mask(["12345", ""], "12345 is 12345")).toBe("12345 is 12345");
  });

  it("is masked in its longest encoding when several have the same prefix", () => {
    expect(mask(["secret", "secret-longer"], "secret-longer secret-long secret")).toBe("*** ***-long ***");
  });
});

describe("the fields of a run", () => {
  it("errors are masked in name, message and stack", () => {
    const error = { name: secret, message: `no ${secret}`, stack: `Error: no ${secret}\n    at run`, code: "run_timeout" };
    expect(new SecretMask([secret]).error(error)).toEqual({
      name: "***",
      message: "no ***",
      stack: "Error: no ***\n    at run",
      code: "run_timeout",
    });
    expect(new SecretMask([secret]).error({ name: "Error", message: "fine" })).toEqual({ name: "Error", message: "fine" });
  });

  it("log records are masked in text and error", () => {
    const masked = new SecretMask([secret]);
    expect(masked.record({ k: "console.log", ts: 1, msg: secret })).toEqual({ k: "console.log", ts: 1, msg: "***" });
    expect(masked.record({ k: "error", ts: 1, err: { name: "Error", message: secret } })).toMatchObject({ err: { message: "***" } });
  });
});

it("every secret in a text is masked, and other texts are unchanged", () => {
  const text = fc.string({ unit: "grapheme" });
  const value = fc.string({ minLength: minMaskedLength, maxLength: 200, unit: "grapheme" }).filter((given) => given.trim().length >= 6);
  fc.assert(
    fc.property(text, text, fc.array(value, { minLength: 1, maxLength: 5 }), (before, after, values) => {
      const masked = mask(values, before + String(values[0]) + after);
      expect(masked).not.toContain(String(values[0]).trim());
      if (values.every((each) => !before.includes(each.trim().slice(0, minMaskedLength)))) expect(mask(values, before)).toBe(before);
    }),
  );
});

it("a text that resembles secrets everywhere is hidden as a whole, in bounded time", () => {
  const values = Array.from({ length: 500 }, (_, n) => `${"a".repeat(50)}${n}`);
  const masked = new SecretMask(values);
  let text = "";
  expect(cpuMsOf(() => (text = masked.text("a".repeat(16_000))))).toBeLessThan(1_000);
  expect(text).toContain("not shown");
});
