import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { listen, messages, type Listening } from "./listen.ts";

const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Echoes frames (RFC 6455). */
export async function startWebSocket(): Promise<Listening> {
  const server = createServer((_, response) => void response.writeHead(426).end());
  server.on("upgrade", (request, socket: Socket) => {
    const accept = createHash("sha1")
      .update(String(request.headers["sec-websocket-key"]) + magic)
      .digest("base64");
    const chosen = request.headers["sec-websocket-protocol"]?.split(",")[0];
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${chosen === undefined ? "" : `Sec-WebSocket-Protocol: ${chosen}\r\n`}\r\n`,
    );
    messages(socket, lengthOf, (frame) => {
      socket.write(unmasked(frame));
      if (((frame[0] ?? 0) & 15) === 8) socket.end();
    });
  });
  return await listen(server);
}

/** Of a masked frame: header, four bytes of the mask, payload. */
function lengthOf(frame: Buffer): number | undefined {
  const short = (frame[1] ?? 0) & 127;
  if (frame.length < (short === 126 ? 4 : 2)) return undefined;
  return short === 126 ? 8 + frame.readUInt16BE(2) : 6 + short;
}

function unmasked(frame: Buffer): Buffer {
  const head = ((frame[1] ?? 0) & 127) === 126 ? 4 : 2;
  const mask = frame.subarray(head, head + 4);
  const payload = frame.subarray(head + 4).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  const start = Buffer.from(frame.subarray(0, head));
  start[1] = (start[1] ?? 0) & 127;
  return Buffer.concat([start, payload]);
}
