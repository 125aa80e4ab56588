import { createHmac } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { formatSigningKey, parseSigningKey, signatureHeaders, type Hmac } from "../../../domain/delivery/webhook-signature.ts";

const hmac: Hmac = (key, text, encoding) => createHmac("sha256", key).update(text).digest(encoding);
const key = fc.uint8Array({ minLength: 24, maxLength: 64 }).map(formatSigningKey);
const message = { id: "em_1", emitter: "dc_1" };
const body = fc.jsonValue().map((value) => JSON.stringify(value));

test("the Standard Webhooks library verifies what we sign, with either key during a rotation", () => {
  fc.assert(
    fc.property(key, key, body, (newer, older, text) => {
      const headers = signatureHeaders({ ...message, at: Date.now(), body: text }, [newer, older].map(parseSigningKey), hmac);
      for (const each of [newer, older]) expect(new Webhook(each).verify(text, headers)).toEqual(JSON.parse(text));
      expect(() => new Webhook(newer).verify(`${text} `, headers)).toThrow();
    }),
  );
});

test("our signature equals the library's", () => {
  fc.assert(
    fc.property(key, body, fc.integer({ min: 0, max: 4e12 }), (signingKey, text, at) => {
      const headers = signatureHeaders({ ...message, at, body: text }, [parseSigningKey(signingKey)], hmac);
      expect(headers["webhook-signature"]).toBe(new Webhook(signingKey).sign("em_1", new Date(at), text));
    }),
  );
});

test("x-pd-signature is the hex HMAC of time and body, keyed with the text of each signing key", () => {
  const [newer, older] = [formatSigningKey(new Uint8Array(32).fill(7)), formatSigningKey(new Uint8Array(24).fill(8))];
  const headers = signatureHeaders({ ...message, at: 1_700_000_000_999, body: '{"é":1}' }, [newer, older].map(parseSigningKey), hmac);
  const expected = [newer, older].map((text) => createHmac("sha256", text).update('1700000000.{"é":1}').digest("hex"));
  expect(headers).toMatchObject({
    "x-pd-emitter-id": "dc_1",
    "x-pd-timestamp": "2023-11-14T22:13:20.999Z",
    "x-pd-signature": `t=1700000000,v1=${expected[0]},v1=${expected[1]}`,
    "webhook-id": "em_1",
    "webhook-timestamp": "1700000000",
  });
});

test("a signing key decodes to its bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), (bytes) => {
      expect(parseSigningKey(formatSigningKey(bytes)).bytes).toEqual(bytes);
    }),
  );
});

test.each(["", "whsec_", "whsec_c2hvcnQ=", "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "whsec_***", `whsec_${"A".repeat(200)}`])(
  "signing key %j is refused without being repeated",
  (signingKey) => {
    expect(() => parseSigningKey(signingKey)).toThrow(/^the signing key is invalid: it must be whsec_ and the base64 of 24 to 64 bytes$/);
  },
);
