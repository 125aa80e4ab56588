import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { orders, reply } from "../child.ts";

/** The baseline of live streams: a client that GETs a path receives what is POSTed to it, at once and from memory. */
await orders();
const readers = new Map<string, Set<ServerResponse>>();
const server = createServer((request, response) => {
  const path = request.url ?? "/";
  if (request.method === "GET") {
    const others = readers.get(path) ?? new Set();
    readers.set(path, others.add(response));
    response.once("close", () => others.delete(response));
    response.writeHead(200, { "content-type": "text/event-stream" }).write(":sse-handshake\n\n");
    return;
  }
  request.resume().on("end", () => {
    response.writeHead(200, { "content-length": 0 }).end();
    const frame = `id: ${Date.now()}-0\ndata: {"event":{"at":${Date.now()}},"metadata":{"pad":"${"x".repeat(150)}"}}\n\n`;
    for (const reader of readers.get(path) ?? []) reader.write(frame);
  });
});
server.listen(0, "127.0.0.1", () => reply({ port: (server.address() as AddressInfo).port })); // listens on TCP
