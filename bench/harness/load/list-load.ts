import net from "node:net";
import { orders, reply } from "../child.ts";
import { MessageReader } from "../baseline/raw-http.ts";
import { median } from "../measure/statistics.ts";

export interface ListOrders {
  readonly port: number;
  readonly paths: readonly string[];
  /** API keys, one after the other: each may ask only so often. */
  readonly keys: readonly string[];
  /** Connections, each with one request at a time. */
  readonly inFlight: number;
  readonly durationMs: number;
}

export interface Listed {
  readonly perSecond: number;
  readonly medianMs: number;
}

/** Reads lists as fast as they are answered, for a time. @throws when one is not answered 200 */
const { port, paths, keys, inFlight, durationMs } = await orders<ListOrders>();
const times: number[] = [];
let [sent, isOver] = [0, false];

async function readLists(): Promise<void> {
  const socket = net.connect(port, "127.0.0.1").setNoDelay(true).setEncoding("latin1");
  const reader = new MessageReader();
  while (!isOver) {
    const number = sent++;
    const startedAt = performance.now();
    socket.write(
      `GET ${paths[number % paths.length]} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${keys[number % keys.length]}\r\n\r\n`,
    );
    const start = await answerOf(socket, reader);
    if (!start.startsWith("HTTP/1.1 200")) throw new Error(`${paths[number % paths.length]} is answered with '${start}'`);
    times.push(performance.now() - startedAt);
  }
  socket.destroy();
}

function answerOf(socket: net.Socket, reader: MessageReader): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.on("data", function take(chunk: string) {
      const [answer] = reader.take(chunk);
      if (answer === undefined) return;
      socket.off("data", take).off("error", reject);
      resolve(answer.start);
    });
  });
}

const startedAt = performance.now();
setTimeout(() => (isOver = true), durationMs);
await Promise.all(Array.from({ length: inFlight }, readLists));
reply({ perSecond: (times.length / (performance.now() - startedAt)) * 1_000, medianMs: median(times) } satisfies Listed);
