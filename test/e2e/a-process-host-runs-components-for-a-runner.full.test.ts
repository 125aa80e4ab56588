import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { type Cluster, startCluster } from "../support/system/cluster.ts";
import { counter } from "./support/components.ts";
import { until } from "../support/until.ts";
import { deploy, postJson } from "../support/system/sources.ts";

/** As in a pod: the runner has the keys, and a process host starts the processes in which components run. */

const socket = `@headwater-e2e-${process.pid}`;
let directory: TemporaryDirectory;
let cluster: Cluster;
let host: ChildProcess;

function startHost(): ChildProcess {
  return spawn(process.execPath, ["--no-node-snapshot", join(import.meta.dirname, "../../main.ts")], {
    env: { HEADWATER_ROLES: "sandbox", HEADWATER_SANDBOX_SOCKET: socket, HEADWATER_LOG_LEVEL: "warn" },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

beforeAll(async () => {
  directory = await temporaryDirectory("process-host");
  host = startHost();
  const runner = { HEADWATER_SANDBOX_SOCKET: socket, HEADWATER_SANDBOX_USER: String(process.getuid?.() ?? 0) };
  cluster = await startCluster(directory.path, { envOf: { runner } });
});
afterAll(async () => {
  await cluster.stop();
  host.kill("SIGKILL");
  await directory.remove();
});

it.skipIf(process.platform !== "linux")("runs requests there, and again after the host has been replaced", async () => {
  const { id, endpoint } = await deploy(cluster, counter);
  const send = async (request: string): Promise<void> => expect((await postJson(endpoint, { request })).status).toBe(200);
  const counted = async (): Promise<readonly string[]> => {
    const path = `/sources/${id}/event_summaries?limit=100&expand=event`;
    const { body } = await cluster.call<{ data: { event: { n: number; request: string } }[] }>("GET", path);
    return body.data.map(({ event }) => `${event.n} ${event.request}`).toReversed();
  };
  await send("a");
  await until(async () => (await counted()).length === 1, "the first run");
  host.kill("SIGKILL");
  await send("b");
  host = startHost();
  await until(async () => (await counted()).length === 2, "the run of the next host");
  expect(await counted()).toEqual(["1 a", "2 b"]);
});
