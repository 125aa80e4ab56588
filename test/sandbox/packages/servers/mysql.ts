import { createServer } from "node:net";
import { listen, messages, type Listening } from "./listen.ts";

/** MySQL, protocol 4.1: any password is right, any query has one row, `name: 'x'`. */
export async function startMysql(): Promise<Listening> {
  return await listen(
    createServer((socket) => {
      let isKnown = false;
      const send = (sequence: number, ...payloads: readonly Buffer[]): void =>
        void socket.write(Buffer.concat(payloads.map((payload, index) => packet(sequence + index, payload))));
      send(0, greeting);
      messages(socket, lengthOf, (message) => {
        const command = message[4];
        if (!isKnown) {
          isKnown = true;
          send(2, ok);
        } else if (command === 1) socket.end();
        else if (command === 3) send(1, Buffer.from([1]), column, end, text("x"), end);
        else send(1, ok);
      });
    }),
  );
}

const lengthOf = (bytes: Buffer): number | undefined => (bytes.length < 4 ? undefined : bytes.readUIntLE(0, 3) + 4);
const text = (value: string): Buffer => Buffer.concat([Buffer.from([Buffer.byteLength(value)]), Buffer.from(value)]);
const ok = Buffer.from([0, 0, 0, 2, 0, 0, 0]);
const end = Buffer.from([0xfe, 0, 0, 2, 0]);

function packet(sequence: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUIntLE(payload.length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, payload]);
}

/** Protocol 10; capabilities: protocol 4.1, secure connection, plugins of authentication, connecting with a database. */
const capabilities = 0x0008_8208;
const greeting = Buffer.concat([
  Buffer.from([10]),
  Buffer.from("8.0.0\0"),
  Buffer.from([1, 0, 0, 0]),
  Buffer.from("12345678\0"),
  Buffer.from([capabilities & 255, (capabilities >> 8) & 255, 45, 2, 0, (capabilities >> 16) & 255, 0, 21]),
  Buffer.alloc(10),
  Buffer.from("123456789012\0"),
  Buffer.from("mysql_native_password\0"),
]);

/** Column definition: catalog, schema, table, original table, name, original name; then fixed fields, type VAR_STRING. */
const column = Buffer.concat([...["def", "", "", "", "name", ""].map(text), Buffer.from([0x0c, 45, 0, 255, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0])]);
