/**
 * Receives what a webhook delivers and checks the older of the two signatures, whose key is the text of the signing key:
 * `node receive-older.mjs <signing key> [port]`.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const [signingKey = "", port = "4000"] = process.argv.slice(2);
const oldestSeconds = 300;
if (!signingKey.startsWith("whsec_")) {
  console.error("usage: node receive-older.mjs <signing key> [port]; the webhook's signing key begins with whsec_");
  process.exit(2);
}

function isGenuine(headers, body) {
  const [time, ...signatures] = (headers["x-pd-signature"] ?? "").split(",");
  const timestamp = time.replace(/^t=/, "");
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) <= oldestSeconds;
  const expected = createHmac("sha256", signingKey).update(`${timestamp}.`).update(body).digest();
  return isRecent && signatures.some((entry) => isSame(entry, expected));
}

function isSame(entry, expected) {
  const given = Buffer.from(entry.replace(/^v1=/, ""), "hex");
  return entry.startsWith("v1=") && given.length === expected.length && timingSafeEqual(given, expected);
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  const genuine = isGenuine(request.headers, body);
  response.writeHead(genuine ? 204 : 401).end();
  console.log(genuine ? `received ${body}` : "refused: the signature is wrong or too old");
});
server.listen(Number(port), "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${port}/`));
