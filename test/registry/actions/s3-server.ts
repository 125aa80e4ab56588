import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll } from "vitest";

/** The published examples of AWS use this key. */
export const accessKey = { id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };
const region = "eu-west-1";

interface Stored {
  readonly content: Buffer;
  readonly type: string;
}

export interface S3Server {
  endpoint: string;
  readonly region: string;
  /** By `<bucket>/<key>`, as the client wrote it before encoding. */
  readonly objects: Map<string, Stored>;
}

class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * Stores objects of the bucket `orders` as S3 does: verifies the signature, the hash of the body and the age of each request, over the
 * request line and headers as they arrived. Answers errors in the form of S3.
 */
export function withS3(): S3Server {
  const s3: S3Server = { endpoint: "", region, objects: new Map() };
  const server = createServer((request, response) => {
    void handle(s3, request).then(({ status, headers, content }) => response.writeHead(status, headers).end(content)); // Never rejects.
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    s3.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return s3;
}

async function handle(s3: S3Server, request: IncomingMessage): Promise<Answer> {
  try {
    const body = await buffer(request);
    verify(request, body);
    return answer(s3, request, body);
  } catch (error) {
    const { status, code, message } = error instanceof Refused ? error : new Refused(500, "InternalError", String(error));
    const content = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
    return { status, headers: { "content-type": "application/xml" }, content: Buffer.from(content) };
  }
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function verify(request: IncomingMessage, body: Buffer): void {
  const shape =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
  const match = shape.exec(request.headers.authorization ?? "");
  if (match === null) throw new Refused(403, "AccessDenied", "Access Denied");
  const [, id, day = "", named = "", list = "", signature] = match;
  const [time, hash] = [header(request, "x-amz-date"), header(request, "x-amz-content-sha256")];
  if (id !== accessKey.id) throw new Refused(403, "InvalidAccessKeyId", "The access key does not exist");
  if (named !== region) throw new Refused(400, "AuthorizationHeaderMalformed", `the region is wrong; expecting '${region}'`);
  const age = Date.now() - Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(age) < 900_000) || !time.startsWith(day)) throw new Refused(403, "RequestTimeTooSkewed", `the time is ${time}`);
  if (hash !== createHash("sha256").update(body).digest("hex"))
    throw new Refused(400, "XAmzContentSHA256Mismatch", "the hash is not that of the body");
  const names = list.split(";");
  const present = Object.keys(request.headers).filter((name) => name === "host" || name === "content-type" || name.startsWith("x-amz-"));
  const unsigned = present.filter((name) => !names.includes(name));
  if (unsigned.length > 0) throw new Refused(403, "AccessDenied", `headers are not signed: ${unsigned.join()}`);
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const lines = names.map((name) => `${name}:${header(request, name).trim()}\n`).join("");
  const canonical = [request.method, path, query, lines, list, hash].join("\n");
  const text = ["AWS4-HMAC-SHA256", time, `${day}/${named}/s3/aws4_request`, createHash("sha256").update(canonical).digest("hex")].join(
    "\n",
  );
  let key = Buffer.from(`AWS4${accessKey.secret}`);
  for (const part of [day, named, "s3", "aws4_request"]) key = createHmac("sha256", key).update(part).digest();
  if (createHmac("sha256", key).update(text).digest("hex") !== signature)
    throw new Refused(403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided");
}

const header = (request: IncomingMessage, name: string): string => String(request.headers[name] ?? "");

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: Buffer;
}

function answer({ objects }: S3Server, request: IncomingMessage, body: Buffer): Answer {
  const [, bucket = "", encoded = ""] = /^\/([^/]+)\/(.+)$/.exec(request.url ?? "") ?? [];
  if (bucket !== "orders") throw new Refused(404, "NoSuchBucket", "The specified bucket does not exist");
  const path = `${bucket}/${decodeURIComponent(encoded)}`;
  if (request.method === "PUT") objects.set(path, { content: body, type: header(request, "content-type") });
  const object = objects.get(path);
  if (object === undefined) throw new Refused(404, "NoSuchKey", "The specified key does not exist.");
  const etag = `"${createHash("md5").update(object.content).digest("hex")}"`;
  if (request.method === "PUT") return { status: 200, headers: { etag } };
  return {
    status: 200,
    headers: { etag, "content-type": object.type, "last-modified": "Mon, 23 Nov 2026 10:00:00 GMT" },
    content: object.content,
  };
}
