import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maxAttempts, maxRetryAfterMs, nextAttempt } from "../../domain/delivery/retry-schedule.ts";
import { formatSigningKey, parseSigningKey, signatureHeaders, type Hmac } from "../../domain/delivery/webhook-signature.ts";
import { blocksOf } from "../e2e/support/documented-session.ts";
import { sampleOf } from "../support/command.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { languages, missingFor, prepare, verdictsOf, type Arrived } from "./verifiers.ts";

/**
 * Runs the code of docs/webhooks.md, in each language that is on PATH, with deliveries that our own code has signed: genuine ones
 * and deliveries that were tampered with. `npm test` runs that of the first language.
 */
const path = "docs/webhooks.md";
const page = readFileSync(join(import.meta.dirname, "../..", path), "utf8");
const blocks = blocksOf(path);
const hmac: Hmac = (key, text, encoding) => createHmac("sha256", key).update(text).digest(encoding);
const keyOf = (byte: number): string => formatSigningKey(new Uint8Array(32).fill(byte));
const [newer, older, strange] = [keyOf(0xfb), keyOf(2), keyOf(3)];

interface Signed {
  readonly at?: number;
  readonly keys?: readonly string[];
  readonly body?: string;
}

function arrived({ at = Date.now(), keys = [newer], body = '{"text":"Grüße, 世界\\n"}' }: Signed = {}): Arrived {
  const message = { id: "25FKXo8dvY0zbR7f", emitter: "dc_abc", at, body };
  return { headers: signatureHeaders(message, keys.map(parseSigningKey), hmac), body, signingKey: newer };
}

const withHeaders = (given: Arrived, headers: Readonly<Record<string, string>>): Arrived => ({
  ...given,
  headers: { ...given.headers, ...headers },
});
const both = { standard: true, older: true };
const neither = { standard: false, older: false };
const minuteMs = 60_000;

/** By what was done to it: a delivery, and what has to be said of it. */
function deliveries(): Readonly<Record<string, readonly [Arrived, { readonly standard: boolean; readonly older: boolean }]>> {
  const plain = arrived();
  return {
    genuine: [plain, both],
    "with an empty object": [arrived({ body: "{}" }), both],
    "three minutes old": [arrived({ at: Date.now() - 3 * minuteMs }), both],
    "signed by a new key and the receiver's": [arrived({ keys: [strange, newer] }), both],
    "signed by the receiver's key and an old one": [arrived({ keys: [newer, older] }), both],
    "signed by another key": [arrived({ keys: [strange] }), neither],
    "with another body": [{ ...plain, body: `${plain.body} ` }, neither],
    "six minutes old": [arrived({ at: Date.now() - 6 * minuteMs }), neither],
    "from ten minutes ahead": [arrived({ at: Date.now() + 10 * minuteMs }), neither],
    "with another id": [withHeaders(plain, { "webhook-id": "25FKXo8dvY0zbR7e" }), { standard: false, older: true }],
    "with another time": [atAnotherTime(plain, String(Number(plain.headers["webhook-timestamp"]) - 1)), neither],
    "with a time that is none": [atAnotherTime(plain, "soon"), neither],
    "of another version": [
      withHeaders(plain, {
        "webhook-signature": String(plain.headers["webhook-signature"]).replace("v1,", "v2,"),
        "x-pd-signature": String(plain.headers["x-pd-signature"]).replace("v1=", "v0="),
      }),
      neither,
    ],
    "with empty signatures": [emptySignatures(plain), neither],
    "without any header": [{ ...plain, headers: {} }, neither],
  };
}

/** A delivery signed at `given`'s time with another time in its header. */
const atAnotherTime = (given: Arrived, time: string): Arrived =>
  withHeaders(given, {
    "webhook-timestamp": time,
    "x-pd-signature": String(given.headers["x-pd-signature"]).replace(/t=\d+/, `t=${time}`),
  });

const emptySignatures = (given: Arrived): Arrived =>
  withHeaders(given, { "webhook-signature": "v1,", "x-pd-signature": String(given.headers["x-pd-signature"]).replace(/v1=.*/, "v1=") });

let directory: TemporaryDirectory;
beforeAll(async () => void (directory = await temporaryDirectory("webhooks")));
afterAll(() => directory.remove());

describe.each(sampleOf(languages))("the code for $fence", (language) => {
  const missing = missingFor(language);
  const run = missing === undefined ? it : it.skip;
  const why = missing === undefined ? "" : ` (skipped: ${missing} was not found on PATH)`;
  const [block, ...more] = blocks.filter(({ language: fence }) => fence === language.fence);

  run(
    `believes what is genuine and nothing else, and takes no empty key${why}`,
    async () => {
      expect(more).toEqual([]);
      await prepare(language, block?.text ?? "", directory.path);
      const all = Object.entries(deliveries());
      const verdicts = await verdictsOf(
        language,
        all.map(([, [given]]) => given),
        directory.path,
      );
      expect(all.map(([name], index) => [name, verdicts[index]])).toEqual(all.map(([name, [, expected]]) => [name, expected]));
      const keyless = verdictsOf(language, [{ ...emptySignatures(arrived()), signingKey: "" }], directory.path);
      // The shell complains, and believes nothing; the others throw.
      if (language.fence === "bash") expect(await keyless).toEqual([neither]);
      else await expect(keyless).rejects.toThrow("the signing key is no whsec_");
    },
    300_000, // Go compiles its library the first time.
  );
});

describe("docs/webhooks.md", () => {
  it("has code only in tested languages and the shell", () => {
    const fences = blocks.map(({ language }) => language).filter((fence) => !["sh", "text", "json", "yaml", "sql"].includes(fence));
    expect(fences).toEqual(languages.map(({ fence }) => fence));
  });

  it("lists the delays of the retry schedule and the time of each attempt", () => {
    const units: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000 };
    const span = (text: string): number => {
      const [number = "", unit = ""] = text.split(" ");
      return Number(number) * (units[unit] ?? Number.NaN);
    };
    const rows = [...page.matchAll(/^\| (\d+) \| (\d+ \w+) \| ([\d.]+ \w+) \|$/gm)];
    expect(rows.map(([, attempt]) => Number(attempt))).toEqual(Array.from({ length: maxAttempts - 1 }, (_, index) => index + 2));
    let sinceFirst = 0;
    for (const [row, attempt, wait = "", since = ""] of rows) {
      const waitMs = nextAttempt(Number(attempt) - 1, 0.5) ?? 0;
      sinceFirst += waitMs;
      expect(span(wait), row).toBe(waitMs);
      // Rounded to what is said.
      expect(Math.abs(span(since) - sinceFirst) / sinceFirst, row).toBeLessThan(0.05);
    }
  });

  it("recommends keeping ids as long as attempts may be made", () => {
    const dayMs = 86_400_000;
    const waits = (retryAfterMs: number): number =>
      Array.from({ length: maxAttempts - 1 }, (_, index) => nextAttempt(index + 1, 1, retryAfterMs) ?? 0).reduce((sum, wait) => sum + wait);
    const text = page.replaceAll(/\s+/g, " ");
    expect(text).toContain("Keep ids for two days, because all attempts are made within little more than one");
    expect(waits(0)).toBeLessThan(2 * dayMs);
    expect(text).toContain("for five, if your endpoint extends the waits by `Retry-After`");
    expect(waits(maxRetryAfterMs)).toBeLessThan(5 * dayMs);
  });
});
