import { createHash, createHmac } from "node:crypto";
import { like, type Answer, type Family, type Fields, type ReceivedRequest } from "./contract.ts";

/** How services of a protocol family authenticate and encode bodies, and how each reports what it refuses. */

export const token = "example-token-0123456789";
/** The account of services with OAuth, or with a token of their own that is sent as one. */
export const oauth: Fields = { oauth_access_token: token };

/** REST with JSON and a token in `Authorization`, as RFC 6750 says. */
export const bearerJson: Family = { name: "JSON with a bearer token", headers: { authorization: `Bearer ${token}` }, encoding: "json" };

/** REST with forms and a token in `Authorization`: Stripe. */
export const bearerForm: Family = { ...bearerJson, name: "forms with a bearer token", encoding: "form" };

/** REST with JSON and a key in a header. */
export const headerKey = (header: string, value: string): Family => ({
  name: "JSON with a key in a header",
  headers: { [header]: value },
  encoding: "json",
});

/** REST with JSON and keys in the query. */
export const queryKey = (query: Readonly<Record<string, string>>): Family => ({
  name: "JSON with a key in the query",
  query,
  encoding: "json",
});

const basic = (username: string, password: string): string => `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

/** REST with basic authentication (RFC 7617). */
export const basicAuth = (username: string, password: string, encoding: Family["encoding"] = "json"): Family => ({
  name: encoding === "form" ? "forms with basic authentication" : "JSON with basic authentication",
  headers: { authorization: basic(username, password) },
  encoding,
});

/** APIs of Google: JSON with a bearer token, and errors with a code, a message and a status. */
export const google: Family = { ...bearerJson, name: "Google", answerType: "application/json; charset=UTF-8" };
export const googleError = (code: number, status: string, message: string): Answer => ({
  status: code,
  json: { error: { code, message, status } },
});

/** Methods of Slack: forms or JSON with a bearer token, and answers of status 200 with `ok`. */
export const slack: Family = { ...bearerForm, name: "Slack", answerType: "application/json; charset=utf-8" };

/** Services without accounts. */
export const open: Family = { name: "JSON without an account", encoding: "json" };

/** Ghost's Admin API: a token (JWT, HS256) that is signed with the key, and lives for five minutes at most. */
export const ghost = (id: string, secret: string): Family => ({
  name: "JSON with a signed token",
  headers: { authorization: like(/^Ghost [\w-]+\.[\w-]+\.[\w-]+$/) },
  encoding: "json",
  verify: ({ headers }) => {
    const [head = "", claims = "", signature] = headers["authorization"]?.replace("Ghost ", "").split(".") ?? [];
    const read = (part: string): Fields => JSON.parse(Buffer.from(part, "base64url").toString()) as Fields; // A part of a JWT is an object.
    const expected = createHmac("sha256", Buffer.from(secret, "hex")).update(`${head}.${claims}`).digest("base64url");
    if (signature !== expected) return "the token is not signed with the key";
    const { kid } = read(head);
    const { aud, exp, iat } = read(claims);
    if (kid !== id || aud !== "/admin/") return `the token is for ${String(kid)} and ${String(aud)}`;
    return Number(exp) - Number(iat) > 300 ? "the token lives for more than five minutes" : undefined;
  },
});

/** Services like S3: requests signed by version 4 of AWS' signatures, and answers in XML. */
export const s3 = (region: string, keyId: string, secret: string): Family => ({
  name: "S3",
  headers: {},
  encoding: "text",
  answerType: "application/xml",
  unsaidHeaders: /^(amz-sdk-.*|x-amz-.*|authorization)$/,
  verify: (request) => {
    const { authorization = "" } = request.headers;
    const [, signed = "", signature] = /SignedHeaders=([^,]+), Signature=(\w+)$/.exec(authorization) ?? [];
    const at = request.headers["x-amz-date"] ?? "";
    const scope = `${at.slice(0, 8)}/${region}/s3/aws4_request`;
    if (!authorization.startsWith(`AWS4-HMAC-SHA256 Credential=${keyId}/${scope},`)) return `it is signed for ${authorization}`;
    const canonical = canonicalRequest(request, signed.split(";"));
    const parts = ["AWS4-HMAC-SHA256", at, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
    const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
    const key = [at.slice(0, 8), region, "s3", "aws4_request"].reduce(hmac, Buffer.from(`AWS4${secret}`));
    return signature === hmac(key, parts).toString("hex") ? undefined : "its signature is wrong";
  },
});

function canonicalRequest({ method, url, headers, bytes }: ReceivedRequest, signed: readonly string[]): string {
  const encode = (text: string): string =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort();
  const hash = createHash("sha256").update(bytes).digest("hex");
  return [
    method,
    url.pathname,
    query.join("&"),
    ...signed.map((name) => `${name}:${headers[name] ?? ""}`),
    "",
    signed.join(";"),
    hash,
  ].join("\n");
}
