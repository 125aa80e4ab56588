import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../platform/process/free-port.ts";
import type { Figure } from "../figure.ts";
import { Entries, inChunks, sourceIds } from "../harness/deploy.ts";
import { formatParts, memoryOf, total, type Part } from "../harness/measure/process-tree.ts";
import { heapBytes } from "../harness/measure/profile.ts";
import { pause, runOnce, until } from "../harness/load/runs.ts";
import { startSystem, surroundings } from "../harness/system.ts";

/**
 * Memory of everything at rest after a start as `npm start` does it: the sum of the proportional set sizes of the launcher, our
 * processes, nats-server and Postgres. And what a further idle source costs a runner: growth of its JavaScript heap (after a full
 * collection) over sources that were deployed, ran once and were evicted.
 */
const [megabyte, settleMs, sources, keptWarm] = [2 ** 20, 15_000, 2_000, 500] as const;
const root = join(import.meta.dirname, "..", "..");
const code = `export default { name: "Bench", props: { http: "$.interface.http" }, run(event) { this.$emit({ at: Date.now() }); } };`;

export async function run(): Promise<readonly Figure[]> {
  return [await atRest(), await perIdleSource()];
}

async function atRest(): Promise<Figure> {
  const directory = await mkdtemp(join(tmpdir(), "headwater-bench-"));
  const listen = {
    HEADWATER_LISTEN: `127.0.0.1:${await freePort()}`,
    HEADWATER_INGRESS_LISTEN: `127.0.0.1:${await freePort()}`,
  };
  const child = spawn(process.execPath, [join(root, "scripts/launch.mjs"), "main.ts"], {
    cwd: root,
    env: { ...surroundings(), ...listen, HEADWATER_DATA: directory },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  try {
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await until(() => said.includes("curl ") || child.exitCode !== null, "Headwater prints its first lines", 90_000);
    await pause(settleMs);
    const parts = memoryOf([child.pid ?? 0]);
    return {
      name: "memory of everything at rest",
      value: total(parts) / megabyte,
      unit: "MB PSS",
      goal: { of: "value", atMost: 450 },
      note: `${settleMs / 1_000} s after the start, nothing deployed; MB: ${formatParts(parts, megabyte, 1)}`,
    };
  } finally {
    child.kill("SIGINT");
    await exited;
    await rm(directory, { recursive: true, force: true });
  }
}

async function perIdleSource(): Promise<Figure> {
  const system = await startSystem({ roles: ["ingress", "runner", "builder"] });
  try {
    const entries = new Entries(system);
    const build = await entries.build(code);
    const runner = system.cpu().find(({ part }) => part === "runner")?.pid ?? 0;
    const runAll = async (prefix: string, count: number): Promise<void> => {
      const ids = sourceIds(prefix, count);
      await inChunks(ids, (id) => entries.deploy(id, build));
      await runOnce(system.connection, ids);
    };
    await runAll("warm", keptWarm); // Fills what has a fixed size: isolates up to their budget, pools, code.
    const [heapBefore, before] = [await heapBytes(runner), system.memory()];
    await runAll("idle", sources);
    const [heapAfter, after] = [await heapBytes(runner), system.memory()];
    const grown = (part: Part): string => `${part} ${(((after.get(part) ?? 0) - (before.get(part) ?? 0)) / sources / 1_024).toFixed(2)}`;
    return {
      name: "per further idle source, runner heap",
      value: (heapAfter - heapBefore) / sources / 1_024,
      unit: "KB",
      goal: { of: "value", atMost: 4 },
      note: `${sources} sources deployed and run once after ${keptWarm} others, then crowded out of the isolates' budget; growth of PSS in KB per source, isolates still warm and code caches included: ${["runner", "sandbox", "nats-server"].map(grown).join(", ")}`,
    };
  } finally {
    await system.stop();
  }
}
