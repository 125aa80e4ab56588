import { createServer } from "node:http";
import { once } from "node:events";
import type { Figure } from "../figure.ts";
import type { Accepted, AcceptOrders } from "../harness/load/accept-load.ts";
import { responseTimes } from "../harness/load/response-times.ts";
import { startChild } from "../harness/child.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { invoke, pause, runOnce } from "../harness/load/runs.ts";
import { median, percentile } from "../harness/measure/statistics.ts";
import { startSystem, type System } from "../harness/system.ts";
import { deployWorkflow, stepsInARow } from "../harness/workflows.ts";
import { controlCode } from "../../domain/workflow/control-code.ts";

/**
 * What one owner does to another: time from storing an invocation of a neighbour's source to its commit, p95, while an owner runs what
 * follows on its own sources as fast as it gets them, against the same before. `sync_interval: always`; a system of its own for each.
 * `BENCH_ATTACKS=0,3` measures some of them.
 */
const [sources, before, quietMs, attackMs, settleMs] = [60, 8, 6_000, 10_000, 1_500] as const;
const attacker = "u_attacker";
const component = (run: string): string => `export default { name: "Bench", props: { http: "$.interface.http" }, ${run} };`;
const trivial = component(`run() { this.$emit({ at: Date.now() }); }`);
const trivialAction = `export default { name: "Item", type: "action", version: "1.0.0", props: {}, run() { return 1; } };`;
/** Of a run. */
const maxItems = 10_000;
const loop = {
  name: "each",
  forEach: `{{ Array.from({ length: ${maxItems} }, (_, item) => item) }}`,
  maxItems,
  concurrency: 50,
  steps: stepsInARow(1),
};

interface Attack {
  readonly label: string;
  readonly code: (port: number) => string;
  readonly sources: number;
  /** Invocations of each source that wait when it begins. */
  readonly invocations: number;
  /** Items of a loop, of which runs of a workflow take `maxItems` each; absent: it uses sources. */
  readonly items?: number;
  /** HTTP requests for the first source, sent while the neighbour is measured; absent: none. */
  readonly requests?: number;
}

const attacks: readonly Attack[] = [
  { label: "busy loops", code: () => component(`run() { for (;;); }`), sources, invocations: 50 },
  {
    label: "memory bombs",
    code: () => component(`run() { const all = []; for (;;) all.push(new Array(100_000).fill(1)); }`),
    sources,
    invocations: 50,
  },
  {
    label: "a flood of emits",
    code: () => component(`run() { for (let n = 0; n < 1_000; n++) this.$emit({ n, pad: "x".repeat(500) }); }`),
    sources,
    invocations: 100,
  },
  {
    label: `${sources} slow fetches`,
    code: (port) => component(`async run() { await fetch("http://127.0.0.1:${port}/"); }`),
    sources,
    invocations: 100,
  },
  { label: "10,000 waiting invocations of one source", code: () => trivial, sources: 1, invocations: 10_000 },
  { label: "12,000 waiting invocations of 60 sources", code: () => trivial, sources, invocations: 200 },
  {
    label: "50,000 requests for one slow source",
    code: () => component(`async run() { await new Promise((resolve) => setTimeout(resolve, 100)); }`),
    sources: 1,
    invocations: 0,
    requests: 50_000,
  },
  { label: "loops of 100,000 items", code: () => trivialAction, sources: 0, invocations: 0, items: 100_000 },
];

export async function run(): Promise<readonly Figure[]> {
  const slow = createServer((_, response) => void setTimeout(() => response.end("late"), 2_000)).listen(0, "127.0.0.1");
  await once(slow, "listening");
  const address = slow.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const wanted = (process.env["BENCH_ATTACKS"] ?? "").split(",");
  const figures: Figure[] = [];
  for (const [index, attack] of attacks.entries())
    if (wanted[0] === "" || wanted.includes(String(index))) figures.push(await measure(attack, port));
  slow.closeAllConnections();
  slow.close();
  return figures;
}

async function measure(attack: Attack, port: number): Promise<Figure> {
  const system = await startSystem({ roles: ["ingress", "runner", "builder"], env: { HEADWATER_LOG_LEVEL: "error" } });
  try {
    const canaries = await deploy(system, attack, port);
    const { connection } = system;
    await responseTimes(connection, canaries, 1_500);
    const quiet = await responseTimes(connection, canaries, quietMs);
    await begin(system, attack);
    const flood = attack.requests === undefined ? undefined : startFlood(system, attack.requests);
    await pause(settleMs);
    const attacked = await responseTimes(connection, canaries, attackMs);
    const refused = flood === undefined ? "" : `; refused ${JSON.stringify((await flood.next()).refused)}`;
    await flood?.stop();
    const shown = (times: readonly number[]): string =>
      [median(times), percentile(times, 0.95), Math.max(...times)].map((ms) => ms.toFixed(1)).join("/");
    return {
      name: `a neighbour's run, p95, beside ${attack.label}`,
      value: percentile(attacked, 0.95),
      unit: "ms",
      baseline: percentile(quiet, 0.95),
      goal: { of: "ratio", atMost: 2 },
      note: `p50/p95/max ${shown(attacked)} ms against ${shown(quiet)} ms; ${attacked.length} and ${quiet.length} runs${refused}`,
    };
  } finally {
    await system.stop();
  }
}

function startFlood({ ingressPort }: System, maxRequests: number) {
  const body = JSON.stringify({ message: "hello", pad: "x".repeat(970) });
  const orders: AcceptOrders = { port: ingressPort, paths: ["/dc_hostile0"], body, inFlight: 64, durationMs: 60_000, maxRequests };
  return startChild<Accepted>("load/accept-load", orders);
}

/** The neighbour's sources, warm, and those of the attacker, cold. */
async function deploy(system: System, attack: Attack, port: number): Promise<readonly string[]> {
  const entries = new Entries(system);
  const [mine, theirs] = await Promise.all([entries.build(trivial), entries.build(attack.code(port))]);
  const canaries = sourceIds("canary", before);
  await inChunks(canaries, (id) => entries.deploy(id, mine, 1, "u_neighbour"));
  await inChunks(sourceIds("hostile", attack.sources), (id) => entries.deploy(id, theirs, 1, attacker));
  if (attack.items !== undefined) await deployWorkflow(system, "p_hostile", theirs, [loop], await entries.build(controlCode), attacker);
  if (attack.requests !== undefined) await entries.endpoint("dc_hostile0", attacker);
  await runOnce(system.connection, canaries);
  return canaries;
}

async function begin({ connection }: System, { sources: count, invocations, items = 0 }: Attack): Promise<void> {
  for (let run = 0; run < items / maxItems; run++)
    await invoke(connection, "p_hostile", [{ source: "p_hostile", trigger: "manual", at: Date.now(), event: {} }]);
  const ids = sourceIds("hostile", count);
  const [rounds, each] = count === 1 ? [invocations, 1] : [invocations / 50, 50];
  const jobs = Array.from({ length: rounds }, () => ids).flat();
  await inChunks(jobs, (source) =>
    invoke(
      connection,
      source,
      Array.from({ length: each }, () => ({ source, trigger: "manual" as const, at: Date.now(), event: {} })),
    ),
  );
}
