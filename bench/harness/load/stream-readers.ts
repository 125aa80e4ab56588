import net from "node:net";
import { orders, reply } from "../child.ts";
import { inChunks } from "../deploy.ts";
import { RawClient } from "../baseline/raw-http.ts";
import { pause, until } from "./runs.ts";
import { percentile } from "../measure/statistics.ts";

export interface ReaderOrders {
  readonly port: number;
  /** Read in turn by the streams, and with these keys in turn. */
  readonly paths: readonly string[];
  readonly keys: readonly string[];
  readonly streams: number;
}

export interface Opened {
  /** Statuses other than 200, by how often. */
  readonly refused: Readonly<Record<string, number>>;
  readonly elapsedMs: number;
}

export interface StreamLoad {
  readonly port: number;
  /** What is asked here is emitted by the source whose stream is at the same place among the paths of the readers. */
  readonly paths: readonly string[];
  readonly perSecond: number;
  readonly durationMs: number;
}

export interface StreamResult {
  readonly sent: number;
  /** Events times the readers of each. */
  readonly expected: number;
  readonly received: number;
  /** From `$emit` to the reader. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

const [tickMs, drainMs] = [5, 20_000] as const;

/** Many readers in one process; then each load that it receives is answered with what the readers received. */
const { port, paths, keys, streams } = await orders<ReaderOrders>();
let times: number[] = [];
const refused: Record<string, number> = {};

/** Resolves when the head of the answer is there. The component emits `{ at }`: its time. */
function open(path: string, key: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1").setNoDelay(true).setEncoding("latin1");
    let rest = "";
    let isOpen = false;
    socket.on("error", () => socket.destroy());
    socket.on("close", resolve);
    socket.on("data", (chunk: string) => {
      const now = performance.timeOrigin + performance.now();
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      if (!isOpen) {
        isOpen = true;
        const status = lines[0]?.split(" ")[1] ?? "";
        if (status !== "200") refused[status] = (refused[status] ?? 0) + 1;
        resolve();
      }
      for (const line of lines) {
        const at = line.startsWith("data: ") ? /"at":(\d+)/.exec(line)?.[1] : undefined;
        if (at !== undefined) times.push(now - Number(at));
      }
    });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\naccept: text/event-stream\r\n\r\n`);
  });
}

async function measure({ port: to, paths: targets, perSecond, durationMs }: StreamLoad): Promise<StreamResult> {
  times = [];
  const client = new RawClient(to);
  let [sent, expected] = [0, 0];
  const readersOf = (place: number): number => Math.floor(streams / paths.length) + (place < streams % paths.length ? 1 : 0);
  for (const startedAt = performance.now(); performance.now() - startedAt < durationMs;) {
    if (((performance.now() - startedAt) / 1_000) * perSecond < sent) {
      await pause(tickMs);
      continue;
    }
    const place = sent++ % targets.length;
    const status = await client.post(targets[place] ?? "/", "{}");
    if (status !== 200) throw new Error(`${targets[place]} answers ${status}`);
    expected += readersOf(place);
  }
  await until(() => times.length >= expected, "all is received", drainMs).catch(() => undefined); // Missing messages are reported.
  client.close();
  return {
    sent,
    expected,
    received: times.length,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
  };
}

process.on("message", (load: StreamLoad) => void measure(load).then(reply));
const startedAt = performance.now();
const places = Array.from({ length: streams }, (_, index) => index);
await inChunks(places, (index) => open(paths[index % paths.length] ?? "/", keys[index % keys.length] ?? ""));
reply({ refused, elapsedMs: performance.now() - startedAt } satisfies Opened);
