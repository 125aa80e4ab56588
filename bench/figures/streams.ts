import { request } from "undici";
import type { Figure } from "../figure.ts";
import { startChild, type BenchChild } from "../harness/child.ts";
import { memoryOf, total } from "../harness/measure/process-tree.ts";
import { heapBytes } from "../harness/measure/profile.ts";
import { median } from "../harness/measure/statistics.ts";
import type { Opened, ReaderOrders, StreamLoad, StreamResult } from "../harness/load/stream-readers.ts";
import { allRoles, startSystem, type System } from "../harness/system.ts";

/**
 * Live streams, all on one process, which is that of all roles: from `$emit` to the reader (stored, committed, read from RUNS, written)
 * with 1,000 open streams, and what 5,000 cost. The baseline is a bare node:http server that writes what is posted to it to its readers,
 * without keys, memory of what was, or a disk. Readers and baseline are processes of their own; rounds alternate, and each has new readers.
 */
const [sources, perSecond, durationMs, rounds, readersPerKey] = [20, 20, 6_000, 3, 1_000] as const;
/** Smaller for a first look. */
const most = Number(process.env["BENCH_STREAMS"] ?? 5_000);
const some = Math.min(1_000, most);
const code = `export default { name: "Bench", props: { http: "$.interface.http" }, run() { this.$emit({ at: Date.now(), pad: "${"x".repeat(100)}" }); } };`;

interface Target {
  /** Of the process that has the streams. */
  readonly pid: number;
  readonly read: Omit<ReaderOrders, "streams">;
  readonly emit: Pick<StreamLoad, "port" | "paths">;
}
type Targets = Readonly<Record<"ours" | "bare", Target>>;

export async function run(): Promise<readonly Figure[]> {
  const system = await startSystem({ roles: allRoles, env: { HEADWATER_STREAMS_PER_USER: "100000", HEADWATER_MAX_CONNECTIONS: "65536" } });
  const bare = startChild<{ port: number }>("baseline/bare-sse", {});
  try {
    const targets = { ours: await deploy(system), bare: await targetOf(bare) };
    return [await latency(targets, "each of 20 sources", sources), await latency(targets, "one source", 1), ...(await memory(targets))];
  } finally {
    await bare.stop();
    await system.stop();
  }
}

async function targetOf(bare: BenchChild<{ port: number }>): Promise<Target> {
  const { port } = await bare.next();
  const paths = Array.from({ length: sources }, (_, index) => `/${index}`);
  return { pid: bare.pid, read: { port, paths, keys: [""] }, emit: { port, paths } };
}

async function deploy(system: System): Promise<Target> {
  const key = await system.key();
  const created: Created[] = [];
  for (let n = 0; n < sources; n++) created.push(await post<Created>(system, key, "/sources", { component_code: code, name: `s${n}` }));
  const keys: string[] = [];
  for (let n = 0; n * readersPerKey < most; n++)
    keys.push((await post<{ key: string }>(system, key, "/users/me/keys", { name: `readers ${n}`, scopes: ["read"] })).key);
  return {
    pid: system.roots[0] ?? 0,
    read: { port: Number(new URL(system.apiUrl).port), paths: created.map(({ id }) => `/v1/sources/${id}/sse`), keys },
    emit: {
      port: system.ingressPort,
      paths: created.map(({ configured_props: { http } }) => new URL(http.endpoint_url).pathname),
    },
  };
}

interface Created {
  readonly id: string;
  readonly configured_props: { readonly http: { readonly endpoint_url: string } };
}

async function post<T>({ apiUrl }: System, key: string, path: string, body: object): Promise<T> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await request(apiUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`POST ${path} answers ${answer.statusCode} ${text}`);
  return (JSON.parse(text) as { data: T }).data; // As the API documents it.
}

/** @param among so many sources have the readers, and emit in turn */
async function latency(targets: Targets, label: string, among: number): Promise<Figure> {
  const results = { ours: [] as StreamResult[], bare: [] as StreamResult[] };
  for (let round = 0; round <= rounds; round++)
    for (const name of ["ours", "bare"] as const) {
      const { read, emit } = targets[name];
      const paths = read.paths.slice(0, among);
      const measured = await withReaders({ ...read, paths, streams: some }, (readers) =>
        // So that as much is written a second, however many hear of each event.
        ask(readers, { ...emit, paths: emit.paths.slice(0, among), perSecond: (perSecond * among) / sources, durationMs }),
      );
      if (round > 0) results[name].push(measured); // The first is warm-up.
    }
  const p95 = (name: keyof Targets): number => median(results[name].map((result) => result.p95));
  const { ours } = results;
  return {
    name: `emit to live stream, p95, ${some} readers of ${label}`,
    value: ours.every(isWhole) ? p95("ours") : Number.NaN,
    unit: "ms",
    baseline: p95("bare"),
    goal: { of: "value", atMost: 50 },
    note: `${(perSecond * among) / sources} events/s; p50 ${median(ours.map(({ p50 }) => p50)).toFixed(1)}, p99 ${median(ours.map(({ p99 }) => p99)).toFixed(1)} ms; ${ours.map(describe).join(", ")}; baseline: node:http, from memory`,
  };
}

async function memory(targets: Targets): Promise<readonly Figure[]> {
  const grown = { ours: await growth(targets.ours), bare: await growth(targets.bare) };
  const figure = (name: string, of: "heap" | "pss", note: string): Figure => ({
    name,
    value: grown.ours[of],
    unit: "KB",
    baseline: grown.bare[of],
    note,
  });
  const { heard, opened } = grown.ours;
  return [
    figure(
      "per open live stream, heap",
      "heap",
      `${most} streams on one process, after a full collection; all opened in ${(opened.elapsedMs / 1_000).toFixed(1)} s`,
    ),
    figure("per open live stream, PSS", "pss", "what the kernel holds for the connection is not in it"),
    {
      name: `events that miss a reader, of ${most} open streams`,
      value: heard.expected - heard.received,
      unit: "events",
      goal: { of: "value", atLeast: 0, atMost: 0 },
      note: `${describe(heard)}; p95 ${heard.p95.toFixed(0)} ms`,
    },
  ];
}

interface Growth {
  /** Of one stream, KB. */
  readonly heap: number;
  readonly pss: number;
  readonly heard: StreamResult;
  readonly opened: Opened;
}

async function growth({ pid, read, emit }: Target): Promise<Growth> {
  const look = async () => ({ heap: await heapBytes(pid), pss: total(memoryOf([pid])) });
  const before = await look();
  return withReaders({ ...read, streams: most }, async (readers, opened) => {
    const after = await look();
    const perStream = (what: keyof typeof after): number => (after[what] - before[what]) / most / 1_024;
    const heard = await ask(readers, { ...emit, perSecond: 1, durationMs });
    return { heap: perStream("heap"), pss: perStream("pss"), heard, opened };
  });
}

async function withReaders<T>(readers: ReaderOrders, act: (readers: BenchChild<unknown>, opened: Opened) => Promise<T>): Promise<T> {
  const child = startChild<unknown>("load/stream-readers", readers);
  try {
    const opened = (await child.next()) as Opened; // Its first message.
    if (Object.keys(opened.refused).length > 0) throw new Error(`streams were refused: ${JSON.stringify(opened.refused)}`);
    return await act(child, opened);
  } finally {
    await child.stop();
  }
}

async function ask(readers: BenchChild<unknown>, load: StreamLoad): Promise<StreamResult> {
  readers.send(load);
  return (await readers.next()) as StreamResult; // Its answer to a load.
}

const isWhole = ({ expected, received }: StreamResult): boolean => expected > 0 && expected === received;
const describe = ({ sent, expected, received }: StreamResult): string => `${sent} events, ${received} of ${expected} received`;
