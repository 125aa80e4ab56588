import { createHash, createHmac } from "node:crypto";

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly service: string;
}

export interface SignedRequest {
  readonly method: string;
  /** Its path is encoded as it is sent. */
  readonly url: URL;
  /** Names in lower case. All of them are signed; `host` is added. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body, in hex. */
  readonly bodyHash: string;
  readonly at: Date;
}

export const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** The headers of a request with AWS Signature Version 4, `authorization` among them. S3: the path is not encoded a second time. */
export function sign({ method, url, headers, bodyHash, at }: SignedRequest, key: SigningKey): Record<string, string> {
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const scope = `${time.slice(0, 8)}/${key.region}/${key.service}/aws4_request`;
  const sent: Record<string, string> = { ...headers, "x-amz-content-sha256": bodyHash, "x-amz-date": time };
  const signed = Object.entries({ ...sent, host: url.host }).toSorted(byName);
  const names = signed.map(([name]) => name).join(";");
  const lines = signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/\s+/g, " ")}\n`).join("");
  const canonical = [method, url.pathname, queryOf(url), lines, names, bodyHash].join("\n");
  const signature = hmac(keyOf(key, time.slice(0, 8)), ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n")).toString("hex");
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

const queryOf = (url: URL): string =>
  [...url.searchParams]
    .map(([name, value]): [string, string] => [encode(name), encode(value)])
    .toSorted(byName)
    .map((pair) => pair.join("="))
    .join("&");

const keyOf = ({ secretAccessKey, region, service }: SigningKey, date: string): Buffer =>
  [date, region, service, "aws4_request"].reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${secretAccessKey}`));

const hmac = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** RFC 3986: everything but letters, digits and `-._~` is encoded. */
export const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
