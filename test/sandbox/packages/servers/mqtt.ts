import { createServer } from "node:net";
import { listen, messages, type Listening } from "./listen.ts";

/** MQTT 3.1.1: publishes to the subscribers of each topic. */
export async function startMqtt(): Promise<Listening> {
  return await listen(
    createServer((socket) =>
      messages(socket, lengthOf, (message) => {
        const kind = (message[0] ?? 0) >> 4;
        const rest = message.subarray(2);
        if (kind === 1) socket.write(Buffer.from([0x20, 2, 0, 0]));
        if (kind === 8) socket.write(Buffer.from([0x90, 3, rest[0] ?? 0, rest[1] ?? 0, 0]));
        if (kind === 12) socket.write(Buffer.from([0xd0, 0]));
        if (kind === 3) {
          const topicBytes = rest.readUInt16BE(0) + 2;
          const payload = rest.subarray(topicBytes + 2);
          socket.write(Buffer.from([0x40, 2, rest[topicBytes] ?? 0, rest[topicBytes + 1] ?? 0]));
          socket.write(Buffer.concat([Buffer.from([0x30, topicBytes + payload.length]), rest.subarray(0, topicBytes), payload]));
        }
        if (kind === 14) socket.end();
      }),
    ),
  );
}

/** Short messages only: their length is one byte. */
const lengthOf = (bytes: Buffer): number | undefined => (bytes.length < 2 ? undefined : (bytes[1] ?? 0) + 2);
