import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatSigningKey, parseSigningKey, signatureHeaders, type Hmac } from "../../domain/delivery/webhook-signature.ts";
import { blocksOf } from "../e2e/support/documented-session.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { missingFor, prepare, verdictsOf, type Arrived, type Language } from "./verifiers.ts";

/** The code of the page. */
export const blocks = blocksOf("docs/webhooks.md");
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

/**
 * Runs the code of docs/webhooks.md in languages, of which those that are not on PATH are skipped, with deliveries that our own code has
 * signed: genuine ones and deliveries that were tampered with.
 */
export function testVerifiers(languages: readonly Language[]): void {
  let directory: TemporaryDirectory;
  beforeAll(async () => void (directory = await temporaryDirectory("webhooks")));
  afterAll(() => directory.remove());

  describe.each(languages)("the code for $fence", (language) => {
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
}
