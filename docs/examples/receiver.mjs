/**
 * Receives what a webhook delivers, and believes it only when its signature is right: `node receiver.mjs <signing key> [port]`.
 * The same in one line with the npm package standardwebhooks: `new Webhook(signingKey).verify(body, headers)`.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const [signingKey = "", port = "4000"] = process.argv.slice(2);
if (!signingKey.startsWith("whsec_")) {
  console.error("usage: node receiver.mjs <signing key> [port]; the webhook's signing key begins with whsec_");
  process.exit(2);
}
const key = Buffer.from(signingKey.replace(/^whsec_/, ""), "base64");
const oldestSeconds = 300;

/** Over the body as it came: what is parsed and written again may differ in a space, and then the signature does not fit. */
function isGenuine(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" } = headers;
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) <= oldestSeconds;
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  // While a key is rotated there is one signature for each; any of them will do.
  return isRecent && signatures.split(" ").some((entry) => isSame(entry, expected));
}

function isSame(entry, expected) {
  const [version, signature = ""] = entry.split(",");
  const given = Buffer.from(signature, "base64");
  return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  const genuine = isGenuine(request.headers, body);
  response.writeHead(genuine ? 204 : 401).end();
  console.log(genuine ? `received ${body}` : "refused: the signature is wrong or too old");
});
server.listen(Number(port), "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${port}/`));
