import { createServer, type Socket } from "node:net";
import { listen, messages, type Listening } from "./listen.ts";

/** Redis: SET, GET and what clients say when they connect. */
export async function startRedis(): Promise<Listening> {
  const values = new Map<string, string>();
  return await listen(
    createServer((socket) =>
      messages(socket, lengthOf, (message) => {
        // Arrays of bulk strings: every second line is a length.
        const [command = "", key = "", value = ""] = message
          .toString()
          .split("\r\n")
          .slice(2)
          .filter((_, index) => index % 2 === 0);
        answer(socket, values, [command.toUpperCase(), key, value]);
      }),
    ),
  );
}

function answer(socket: Socket, values: Map<string, string>, [command, key, value]: readonly [string, string, string]): void {
  if (command === "HELLO") return void socket.write(`%2\r\n${bulk("server")}${bulk("redis")}${bulk("proto")}:3\r\n`);
  if (command === "INFO") return void socket.write(bulk("redis_version:7.0.0\r\nloading:0\r\n"));
  if (command === "GET") return void socket.write(bulk(values.get(key)));
  if (command === "SET") values.set(key, value);
  socket.write("+OK\r\n");
}

const bulk = (text: string | undefined): string => (text === undefined ? "$-1\r\n" : `$${Buffer.byteLength(text)}\r\n${text}\r\n`);

/** `*2\r\n$3\r\nGET\r\n$1\r\nk\r\n` */
function lengthOf(bytes: Buffer): number | undefined {
  let at = bytes.indexOf("\r\n") + 2;
  if (at === 1) return undefined;
  for (let left = Number(bytes.toString("latin1", 1, at - 2)); left > 0; left--) {
    const end = bytes.indexOf("\r\n", at);
    if (end === -1) return undefined;
    at = end + 2 + Number(bytes.toString("latin1", at + 1, end)) + 2;
  }
  return at;
}
