import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { partitionCount } from "../../../domain/subjects.ts";
import type { NatsConnection } from "../../../platform/process/nats/nats-connection.ts";
import { orders, reply } from "../child.ts";

/**
 * The baseline of the ingress: what one would write in an afternoon. A bare node:http handler that stores each request with the NATS
 * client's own `publish` and answers when the server has acknowledged it.
 */
const { nats } = await orders<{ readonly nats: NatsConnection }>();
const client = jetstream(await connect(nats));
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request
    .on("data", (chunk: Buffer) => chunks.push(chunk))
    .on("end", () => {
      const id = request.url?.slice(1) ?? "";
      const message = JSON.stringify({
        source: id,
        at: Date.now(),
        method: request.method,
        path: request.url,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      client.publish(`invoke.default.${Number(id.slice(1)) % partitionCount}.${id}`, message).then(
        () => response.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}'),
        () => response.writeHead(503).end(),
      );
    });
});
server.listen(0, "127.0.0.1", () => reply({ port: (server.address() as AddressInfo).port })); // listens on TCP
