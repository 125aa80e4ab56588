import { readdirSync, readFileSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster } from "../support/system/cluster.ts";
import { counter } from "./support/components.ts";
import { until } from "../support/until.ts";
import { deploy, postJson } from "../support/system/sources.ts";

/** A runner that cannot start sandbox processes fails no run: it reports that it is not ready, and runs the queue once it can. */

let directory: TemporaryDirectory;
let cluster: Cluster;
let healthPort: number;

beforeAll(async () => {
  directory = await temporaryDirectory("no-children");
  healthPort = await steadyPort();
  const runner = { HEADWATER_HEALTH_LISTEN: `127.0.0.1:${healthPort}`, HEADWATER_SANDBOX_CHILDREN: "1" };
  cluster = await startCluster(directory.path, { envOf: { runner } });
});
afterAll(async () => {
  await cluster.stop();
  await directory.remove();
});

const health = async (path: string): Promise<readonly [status: number, text: string]> => {
  const response = await fetch(`http://127.0.0.1:${healthPort}${path}`);
  return [response.status, await response.text()];
};

async function startFailures(): Promise<number> {
  const [, text] = await health("/metrics");
  return Number(/^headwater_sandbox_start_failures_total\{.*\} (\d+)$/m.exec(text)?.[1] ?? "0");
}

/** Renames the program of sandbox processes away and kills those that run. The returned function undoes the renaming. */
async function preventStarts(): Promise<() => Promise<void>> {
  const cache = join(directory.path, "sandbox");
  const [folder = ""] = (await readdir(cache)).filter((name) => name.startsWith("child-"));
  const program = join(cache, folder, "sandbox-child.mjs");
  await rename(program, `${program}.away`);
  for (const pid of pidsOf(program)) process.kill(pid, "SIGKILL");
  return () => rename(`${program}.away`, program);
}

function pidsOf(program: string): readonly number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(program);
    } catch {
      return false; // It has ended.
    }
  });
}

it("keeps accepted requests queued, is not ready, and runs each once when processes can start again", async () => {
  const { id, endpoint } = await deploy(cluster, counter);
  const send = async (request: string): Promise<void> => expect((await postJson(endpoint, { request })).status).toBe(200);
  const counted = async (): Promise<readonly string[]> => {
    const path = `/sources/${id}/event_summaries?limit=100&expand=event`;
    const { body } = await cluster.call<{ data: { event: { n: number; request: string } }[] }>("GET", path);
    return body.data.map(({ event }) => `${event.n} ${event.request}`).toReversed();
  };
  await send("a");
  await until(async () => (await counted()).length === 1, "the first run");
  expect((await health("/readyz"))[0]).toBe(200);

  const restore = await preventStarts();
  await until(async () => (await health("/readyz"))[0] === 503, "the runner to be not ready");
  expect((await health("/readyz"))[1]).toContain("sandbox children cannot be started, invocations stay queued");
  for (const request of ["b", "c", "d"]) await send(request);
  const failures = await startFailures();
  await until(async () => (await startFailures()) >= failures + 2, "two more attempts");
  expect(await counted()).toEqual(["1 a"]);

  await restore();
  await until(async () => (await health("/readyz"))[0] === 200, "the runner to be ready");
  await until(async () => (await counted()).length === 4, "the queued runs");
  expect((await counted()).map((line) => line.split(" ")[0])).toEqual(["1", "2", "3", "4"]);
  expect((await counted()).map((line) => line.split(" ")[1]).toSorted()).toEqual(["a", "b", "c", "d"]);
  const runs = await cluster.call<{ data: { error: unknown }[] }>("GET", `/sources/${id}/runs?limit=100`);
  expect(runs.body.data.map(({ error }) => error ?? null)).toEqual([null, null, null, null]);
});
