import { describe, expect, it } from "vitest";
import { sha256, sign } from "../../../registry/actions/shared/aws-signature.ts";
import { addressOf } from "../../../registry/actions/shared/s3.ts";
import { withRegistry } from "../registry-support.ts";
import { accessKey, withS3 } from "./s3-server.ts";

const registry = withRegistry();
const s3 = withS3();

const bucket = (): Readonly<Record<string, unknown>> => ({
  endpoint: s3.endpoint,
  region: s3.region,
  bucket: "orders",
  key: "a.txt",
  accessKeyId: accessKey.id,
  secretAccessKey: accessKey.secret,
});
const put = (props: object, event?: unknown) => registry.step("headwater-s3-put", { ...bucket(), content: "text", ...props }, event);
const get = (props: object) => registry.step("headwater-s3-get", { ...bucket(), ...props });

describe("headwater-s3-put and headwater-s3-get", () => {
  it.each(["a.txt", "2026/11/a b+c.txt", "é/日本.json", "!*'()&=?#%2F@:,;~$.txt", "/leading//slashes/"])(
    "store and read %j",
    async (key) => {
      const { result, exports } = await put({ key, content: `content of ${key}` });
      const bytes = Buffer.byteLength(`content of ${key}`);
      expect(result).toEqual({ bucket: "orders", key, bytes, etag: expect.stringMatching(/^"[0-9a-f]{32}"$/) as string });
      expect(exports).toEqual({ $summary: `Stored ${key} with ${bytes} bytes` });
      expect(s3.objects.get(`orders/${key}`)?.content.toString()).toBe(`content of ${key}`);
      expect((await get({ key })).result).toEqual({
        content: `content of ${key}`,
        bytes,
        content_type: "text/plain; charset=utf-8",
        etag: (result as { etag: string }).etag,
        last_modified: "Mon, 23 Nov 2026 10:00:00 GMT",
      });
    },
  );

  it.each([
    ["an object as JSON", { content: { id: "{{steps.trigger.event.id}}" } }, '{"id":7}', "application/json"],
    ["bytes in base64", { content: "AP8=", encoding: "base64" }, "\0\xff", "application/octet-stream"],
    ["nothing", { content: "" }, "", "text/plain; charset=utf-8"],
    ["another content type", { content: "<a/>", contentType: "text/xml" }, "<a/>", "text/xml"],
  ])("stores %s", async (_, props, content, type) => {
    await put(props, { id: 7 });
    const object = s3.objects.get("orders/a.txt");
    expect([object?.content.toString("latin1"), object?.type]).toEqual([content, type]);
  });

  it.each([
    ["json", { a: [1] }],
    ["text", '{"a":[1]}'],
    ["base64", "eyJhIjpbMV19"],
  ])("reads an object as %s", async (format, content) => {
    await put({ content: { a: [1] } });
    expect((await get({ format })).result).toMatchObject({ content, bytes: 9 });
  });

  it("signs a session token with the other headers", async () => {
    await expect(put({ sessionToken: "temporary" })).resolves.toMatchObject({ result: { key: "a.txt" } });
  });

  it.each([
    ["the key is missing", { key: "missing" }, "answered 404: NoSuchKey: The specified key does not exist."],
    ["the bucket is missing", { bucket: "other" }, "answered 404: NoSuchBucket"],
    ["the secret is wrong", { secretAccessKey: "wrong-secret-value" }, "answered 403: SignatureDoesNotMatch"],
    ["the region is wrong", { region: "us-east-1" }, "answered 400: AuthorizationHeaderMalformed"],
    ["the key has dots that no URL keeps", { key: "a/../b" }, "no part between slashes may be . or .."],
    ["the endpoint is no URL", { endpoint: "minio" }, "it must begin with http:// or https://"],
  ])("fails with the reason if %s", async (_, props, message) => {
    await expect(get(props)).rejects.toThrow(message);
    await expect(get(props)).rejects.not.toThrow("wrong-secret-value");
  });

  it("refuses content that is not base64, an object that is not JSON, and one that no step may return", async () => {
    await expect(put({ content: "a b!", encoding: "base64" })).rejects.toThrow("content is invalid");
    await put({ content: "<html>" });
    await expect(get({ format: "json" })).rejects.toThrow("is not JSON: it begins with");
    s3.objects.set("orders/large", { content: Buffer.alloc(3_000_000), type: "text/plain" });
    await expect(get({ key: "large" })).rejects.toThrow("answered with more than 2621440 bytes");
  });
});

it("signs as in the examples that AWS has published", () => {
  const key = { accessKeyId: accessKey.id, secretAccessKey: accessKey.secret, region: "us-east-1", service: "s3" };
  const at = new Date("2013-05-24T00:00:00Z");
  const signatureOf = (request: Omit<Parameters<typeof sign>[0], "at">) =>
    /Signature=(\w+)/.exec(sign({ ...request, at }, key)["authorization"] ?? "")?.[1];
  const base = "https://examplebucket.s3.amazonaws.com";
  const bodyHash = sha256("");
  expect(signatureOf({ method: "GET", url: new URL(`${base}/test.txt`), headers: { range: "bytes=0-9" }, bodyHash })).toBe(
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
  const putHeaders = { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" };
  expect(
    signatureOf({
      method: "PUT",
      url: new URL(`${base}/test%24file.text`),
      headers: putHeaders,
      bodyHash: sha256("Welcome to Amazon S3."),
    }),
  ).toBe("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  expect(signatureOf({ method: "GET", url: new URL(`${base}/?lifecycle`), headers: {}, bodyHash })).toBe(
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  );
});

it("addresses a bucket in the path or as a host", () => {
  const object = { ...bucket(), key: "a b/é.txt", endpoint: undefined, sessionToken: undefined, pathStyle: true } as Parameters<
    typeof addressOf
  >[0];
  expect(addressOf(object).href).toBe("https://s3.eu-west-1.amazonaws.com/orders/a%20b/%C3%A9.txt");
  expect(addressOf({ ...object, pathStyle: false }).href).toBe("https://orders.s3.eu-west-1.amazonaws.com/a%20b/%C3%A9.txt");
  expect(addressOf({ ...object, endpoint: "https://storage.example.com:9000/s3/" }).href).toBe(
    "https://storage.example.com:9000/s3/orders/a%20b/%C3%A9.txt",
  );
});
