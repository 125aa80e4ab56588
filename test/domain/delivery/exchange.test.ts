import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rawExchange, type ReceivedResponse } from "../../../domain/delivery/exchange.ts";
import { isHiddenHeader } from "../../../domain/secrets/hidden-headers.ts";
import { SecretMask } from "../../../domain/secrets/secret-mask.ts";

const request = { url: "https://example.com/hook", headers: {} };
const asIs = (text: string): string => text;

function keep(body: Uint8Array | string, parts: Partial<ReceivedResponse> = {}, masked = asIs) {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return rawExchange(request, { headers: {}, body: bytes, isCut: false, ...parts }, () => masked).withResponse().response;
}

describe("the request of an exchange", () => {
  it("has its headers in their order, with credentials masked", () => {
    const headers = { "Webhook-Id": "e1", Authorization: "Basic dXNlcg==", Cookie: "a=b", "x-api-key": "k", "webhook-signature": "v1,x" };
    const { request: sent, responseBytes, withResponse } = rawExchange({ url: "https://a/", headers }, undefined, () => asIs);
    expect([responseBytes, withResponse()]).toEqual([undefined, sent]);
    expect(sent).toEqual({
      url: "https://a/",
      sent: [
        ["Webhook-Id", "e1"],
        ["Authorization", "***"],
        ["Cookie", "***"],
        ["x-api-key", "***"],
        ["webhook-signature", "v1,x"],
      ],
    });
  });
});

describe("a header", () => {
  it.each([
    "x-original-authorization",
    "X-Amzn-Remapped-Set-Cookie",
    "x-jwt-assertion",
    "x_api_key",
    "x-private-key",
    "x-passwd",
    "x-session",
    "x-auth",
  ])("%s is masked", (name) => expect(isHiddenHeader(name)).toBe(true));
  it.each(["webhook-signature", "x-request-id", "content-type", "x-author", "etag"])("%s is not", (name) =>
    expect(isHiddenHeader(name)).toBe(false),
  );
});

describe("the response of an exchange", () => {
  it.each([
    ["an empty body", "", { body: "", encoding: "utf-8" }],
    ["text", "wörld 🙂\r\n\t", { body: "wörld 🙂\r\n\t", encoding: "utf-8" }],
    ["a text with a NUL", "a\0b", { body: btoa("a\0b"), encoding: "base64" }],
    ["invalid UTF-8", Uint8Array.of(0xff, 0xfe), { body: "//4=", encoding: "base64" }],
    ["half of a character at its end", Uint8Array.of(0x61, 0xc3), { body: "YcM=", encoding: "base64" }],
    ["gzip", Uint8Array.of(0x1f, 0x8b, 8, 0), { body: "H4sIAA==", encoding: "base64" }],
  ])("keeps %s", (_, body, expected) => {
    expect(keep(body)).toMatchObject({ ...expected, isCut: false });
  });

  it("leaves out a character that the cut has divided", () => {
    expect(keep(Uint8Array.of(0x61, 0xc3), { isCut: true })).toMatchObject({ body: "a", encoding: "utf-8", isCut: true });
  });

  it("keeps every body so that it can be read again, in at most twice its bytes of JSON", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.string({ unit: "binary" }).map((text) => new TextEncoder().encode(text)),
        ),
        (bytes) => {
          const { body = "", encoding } = keep(bytes) ?? {};
          const again = encoding === "base64" ? Uint8Array.from(atob(body), (each) => each.charCodeAt(0)) : new TextEncoder().encode(body);
          expect(again).toEqual(bytes);
          expect(new TextEncoder().encode(JSON.stringify(body)).length).toBeLessThanOrEqual(2 * bytes.length + 8);
        },
      ),
    );
  });

  it("masks cookies by their name, and secrets wherever they are", () => {
    const mask = new SecretMask(["hunter2-hunter2"]);
    const headers = { "set-cookie": ["a=1", "b=2"], "x-echo": "got hunter2-hunter2", date: "today" };
    expect(keep('{"authorization":"hunter2-hunter2"}', { headers }, (text) => mask.text(text))).toMatchObject({
      headers: [
        ["set-cookie", "***"],
        ["set-cookie", "***"],
        ["x-echo", "got ***"],
        ["date", "today"],
      ],
      body: '{"authorization":"***"}',
    });
    expect(keep("\0hunter2-hunter2\0", {}, (text) => mask.text(text))).toMatchObject({ body: btoa("\0***\0"), encoding: "base64" });
  });

  it("keeps at most 100 headers, and 16 Ki characters of them", () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`x-${n}`, "v"]));
    expect(keep("", { headers: many })).toMatchObject({ headers: { length: 100 }, areHeadersCut: true });
    const large = { "x-small": "v", "x-large": "v".repeat(16 * 1024), "x-last": "v" };
    expect(keep("", { headers: large })).toMatchObject({ headers: [["x-small", "v"]], areHeadersCut: true });
    expect(keep("", { headers: { "x-small": "v", "x-absent": undefined } })).toMatchObject({
      headers: [["x-small", "v"]],
      areHeadersCut: false,
    });
  });
});
