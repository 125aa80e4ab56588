import { createServer, request as requestHttp } from "node:http";
import { connect } from "node:net";
import { listen, type Listening } from "./listen.ts";

/** An HTTP proxy: passes requests on with a header of its own, and makes tunnels. */
export async function startProxy(): Promise<Listening> {
  const server = createServer((request, response) => {
    const onward = requestHttp(
      request.url ?? "",
      { method: request.method ?? "GET", headers: { ...request.headers, via: "proxy" } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  server.on("connect", (request, socket, head: Buffer) => {
    const [host = "", port] = (request.url ?? "").split(":");
    const onward = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    for (const each of [socket, onward]) each.on("error", () => each.destroy());
  });
  return await listen(server);
}
