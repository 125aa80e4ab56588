/**
 * Serves Headwater under the host names of the known service, so that programs written for it run unchanged:
 * `node known-names.mjs`. Clients reach it in one of two ways:
 *
 *   HTTPS_PROXY   set in the program's environment; requests for other hosts pass through untouched
 *   DNS           api.pipedream.com and the others resolve to this machine
 *
 * Settings: CERTIFICATE and PRIVATE_KEY (files, PEM), API_URL, INGRESS_URL, LISTEN (the address), PROXY_PORT and TLS_PORT.
 */
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { pipeline } from "node:stream";

const {
  CERTIFICATE = "server.pem",
  PRIVATE_KEY = "server.key",
  API_URL = "http://127.0.0.1:3000",
  INGRESS_URL = "http://127.0.0.1:3001",
  LISTEN = "127.0.0.1",
  PROXY_PORT = "8080",
  TLS_PORT = "8443",
} = process.env;

/** Base URL of what serves a host name; undefined for hosts that are not the known service's. */
function upstreamOf(host) {
  if (host === "api.pipedream.com" || host === "rt.pipedream.com") return API_URL;
  return host.endsWith(".m.pipedream.net") ? INGRESS_URL : undefined;
}

const hostOf = (authority = "") => authority.replace(/:\d+$/, "").toLowerCase();

function forward(request, response) {
  const base = upstreamOf(hostOf(request.headers.host));
  if (base === undefined) return response.writeHead(421).end(`known-names.mjs does not serve ${request.headers.host}\n`);
  const headers = {
    ...request.headers,
    // What the client claims about itself is replaced: this is the first proxy.
    "x-forwarded-for": request.socket.remoteAddress,
    "x-forwarded-proto": "https",
    "x-forwarded-port": "443",
  };
  const { protocol, hostname, port } = new URL(base);
  const { request: send } = protocol === "https:" ? https : http;
  // The path as it came: resolved as a URL, "//example.com" would name another host.
  const upstream = send({ hostname, port, path: request.url, method: request.method, headers });
  upstream.on("response", (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders);
    response.flushHeaders(); // A live stream may be silent for a while.
    pipeline(answer, response, () => {});
  });
  upstream.on("error", (error) => {
    if (response.headersSent) return response.destroy();
    response.writeHead(502).end(`${base} does not answer: ${error.message}\n`);
  });
  response.on("close", () => upstream.destroy());
  request.pipe(upstream);
}

function readSetting(name, file) {
  try {
    return readFileSync(file);
  } catch (error) {
    console.error(`${name} is the file '${file}', which cannot be read (${error.code}): set ${name} to a PEM file`);
    return process.exit(2);
  }
}

const cert = readSetting("CERTIFICATE", CERTIFICATE);
const tls = https.createServer({ cert, key: readSetting("PRIVATE_KEY", PRIVATE_KEY) }, forward);
tls.requestTimeout = 0; // Headwater has the timeouts.

const proxy = http.createServer((request, response) => {
  response.writeHead(405).end("this proxy is for https:// addresses: set HTTPS_PROXY, not HTTP_PROXY\n");
});
proxy.on("connect", (request, socket, head) => {
  const accept = () => socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
  socket.on("error", () => {});
  if (upstreamOf(hostOf(request.url)) !== undefined) {
    accept();
    socket.unshift(head);
    return tls.emit("connection", socket);
  }
  const [, host, port] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(request.url) ?? [];
  if (host === undefined || Number(port) > 65_535) return socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
  let accepted = false;
  const other = net.connect(Number(port), host, () => {
    accepted = true;
    accept();
    other.write(head);
    pipeline(socket, other, socket, () => {});
  });
  other.on("error", () => (accepted ? socket.destroy() : socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n")));
});

tls.listen(Number(TLS_PORT), LISTEN, () => {
  proxy.listen(Number(PROXY_PORT), LISTEN, () => {
    console.log(`HTTPS_PROXY=http://${LISTEN}:${PROXY_PORT}, or DNS to ${LISTEN}, port ${TLS_PORT}`);
  });
});
