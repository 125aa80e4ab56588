import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createHmacSha256 } from "../../platform/secrets/hmac.ts";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  // Sizes around the buffer that is written in place.
  fc
    .tuple(fc.integer({ min: 32_000, max: 33_000 }), fc.constantFrom("x", "é", "世", "\ud800"))
    .map(([length, unit]) => unit.repeat(length)),
);

it("returns Node's HMAC for every key, text and encoding, repeatedly", () => {
  const hmac = createHmacSha256();
  const keys = [new Uint8Array(32).fill(7), new Uint8Array(24), new Uint8Array(64).fill(255)];
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 64 }), fc.constantFrom(...keys)), text, (key, signed) => {
      for (const encoding of ["hex", "base64"] as const)
        expect(hmac(key, signed, encoding)).toBe(createHmac("sha256", key).update(signed).digest(encoding));
    }),
  );
});

it("refuses a key that is longer than a block", () => {
  expect(() => createHmacSha256()(new Uint8Array(65), "x", "hex")).toThrow("65 bytes");
});
