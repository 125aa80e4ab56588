import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { listen, type Listening } from "./listen.ts";

export const feed = `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>http://x/</link><description>d</description><item><title>One</title><link>http://x/1</link><guid>1</guid><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate></item><item><title>Two</title><guid>2</guid></item></channel></rss>`;

const buckets = `<?xml version="1.0" encoding="UTF-8"?><ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Buckets><Bucket><Name>one</Name><CreationDate>2024-01-01T00:00:00.000Z</CreationDate></Bucket><Bucket><Name>two</Name></Bucket></Buckets><Owner><ID>o</ID></Owner></ListAllMyBucketsResult>`;

interface Asked {
  readonly request: IncomingMessage;
  readonly body: Buffer;
  readonly response: ServerResponse;
}

/** Responses that clients need in a certain form; other requests are echoed. */
const answers: readonly (readonly [pattern: RegExp, answer: (asked: Asked) => void])[] = [
  [/^\/feed/, ({ response }) => void response.setHeader("content-type", "application/rss+xml").end(feed)],
  [/^\/moved/, ({ response }) => void response.writeHead(302, { location: "/landed" }).end()],
  [/^\/never/, () => undefined],
  [/^\/cut/, ({ response }) => void response.writeHead(200, { "content-length": "100" }).write("x", () => response.destroy())],
  [
    /^\/packed/,
    ({ response }) =>
      void response.writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" }).end(gzipSync(`{"packed":true}`)),
  ],
  [/^\/flaky/, flaky],
  [/^\/api\/chat\.postMessage/, ({ response, body }) => json(response, { ok: true, ts: "1.2", got: body.toString() })],
  [/^\/api\/auth\.test/, ({ response }) => json(response, { ok: false, error: "invalid_auth" })],
  [
    /^\/graphql/,
    ({ response, body }) => json(response, { data: { asked: (JSON.parse(body.toString()) as { variables: unknown }).variables } }),
  ],
  [/^\/\?x-id=ListBuckets/, ({ response }) => void response.setHeader("content-type", "application/xml").end(buckets)],
  [/^\/bucket\//, object],
  [/^\/sqs/, queue],
];

const objects = new Map<string, Buffer>();

/** Of S3: what was put is there to get, and 404 in XML for what was not. */
function object({ request, body, response }: Asked): void {
  const key = (request.url ?? "").replace(/\?.*$/, "");
  if (request.method === "PUT") {
    objects.set(key, unchunked(request, body));
    return void response.setHeader("etag", `"${createHash("md5").update(body).digest("hex")}"`).end();
  }
  const known = objects.get(key);
  if (known) return void response.end(known);
  response.writeHead(404, { "content-type": "application/xml" });
  return void response.end(`<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>`);
}

/** Streams are signed chunk by chunk (`aws-chunked`). */
function unchunked(request: IncomingMessage, body: Buffer): Buffer {
  if (!String(request.headers["content-encoding"]).includes("aws-chunked")) return body;
  const text = body.toString("latin1");
  const size = Number.parseInt(text, 16);
  const start = text.indexOf("\r\n") + 2;
  return body.subarray(start, start + size);
}

function queue({ request, body, response }: Asked): void {
  const message = JSON.parse(body.toString()) as { MessageBody?: string };
  response.setHeader("content-type", "application/x-amz-json-1.0");
  if (String(request.headers["x-amz-target"]).endsWith("SendMessage"))
    return void response.end(
      JSON.stringify({
        MessageId: "m1",
        MD5OfMessageBody: createHash("md5")
          .update(message.MessageBody ?? "")
          .digest("hex"),
      }),
    );
  return void response.end(
    JSON.stringify({ Messages: [{ MessageId: "m1", Body: "hello", MD5OfBody: createHash("md5").update("hello").digest("hex") }] }),
  );
}

const attempts = new Map<string, number>();

/** 503 at first, then 200. */
function flaky({ request, response }: Asked): void {
  const count = (attempts.get(request.url ?? "") ?? 0) + 1;
  attempts.set(request.url ?? "", count);
  response.statusCode = count < 2 ? 503 : 200;
  json(response, { attempt: count });
}

function json(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(value));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // bytes, since no encoding is set
  const body = Buffer.concat(chunks);
  const url = request.url ?? "/";
  const known = answers.find(([pattern]) => pattern.test(url));
  if (known) return known[1]({ request, body, response });
  response.statusCode = url.startsWith("/missing") ? 404 : 200;
  return json(response, {
    method: request.method,
    url,
    type: request.headers["content-type"],
    authorization: request.headers.authorization,
    via: request.headers.via,
    body: body.toString(),
  });
}

export async function startHttpServer(): Promise<Listening> {
  return await listen(createServer((request, response) => void answer(request, response).catch(() => response.destroy())));
}
