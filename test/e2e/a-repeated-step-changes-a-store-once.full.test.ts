import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster, type Target } from "../support/system/cluster.ts";
import { until } from "../support/until.ts";

/** A process dies while a step waits behind an increment: the step runs again, and its increments count once. */
const targets: readonly Target[] = ["sandbox", "runner", "delivery"];

let directory: TemporaryDirectory;
let cluster: Cluster;
beforeAll(async () => {
  directory = await temporaryDirectory("stores");
  cluster = await startCluster(directory.path);
});
afterAll(async () => {
  await cluster.stop();
  await directory.remove();
});

const code = `export default { name: "A step", type: "action", version: "1.0.0", props: { store: "data_store" }, async run({ steps, $ }) {
  const { key } = steps.trigger.event;
  await this.store.increment(key);
  await this.store.increment(key, 10);
  await this.store.set(key + "-begun", $.context.attempt);
  while ((await this.store.get("go")) !== key) await new Promise((resolve) => setTimeout(resolve, 100));
  await this.store.increment(key, 100);
  return $.context.attempt;
} };`;

interface Run {
  readonly id: string;
  readonly status: string;
  readonly steps: readonly { readonly return_value: unknown }[];
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await cluster.call<{ readonly data: T }>(method, path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body?.data;
}

it("increments a key once in a branch whose run has gone on in another branch before its runner was killed", async () => {
  const { id: store } = await call<{ readonly id: string }>("POST", "/data_stores", { name: "branches" });
  const entry = (key: string): string => `/data_stores/${store}/entries/${key}`;
  const [waits, counts] = ["a", "b"].map((name) => ({ name, props: { store } }));
  const other = `export default { type: "action", name: "Counts", props: { store: "data_store" }, run() { return this.store.increment("other"); } };`;
  const branches = [
    [{ ...waits, component_code: code }],
    [
      { ...counts, component_code: other },
      { name: "c", props: { store }, component_code: other },
    ],
  ];
  const steps = [{ name: "both", parallel: branches }];
  const { id: workflow } = await call<{ readonly id: string }>("POST", "/workflows", { name: "Branches", steps });
  call("POST", `/workflows/${workflow}/runs`, { event: { key: "branch" } }).catch(() => undefined);
  const isSet = async (key: string): Promise<boolean> => (await cluster.call("GET", entry(key))).status === 200;
  const valueOf = async (key: string): Promise<unknown> => (await call<{ readonly value: unknown }>("GET", entry(key))).value;
  await until(
    async () => (await isSet("branch-begun")) && (await isSet("other")) && (await valueOf("other")) === 2,
    "both branches have begun",
  );
  await cluster.kill("runner");
  await until(async () => (await cluster.call("PUT", entry("go"), { value: "branch" })).status === 200, "the run may go on");
  const runs = (): Promise<readonly Run[]> => call<readonly Run[]>("GET", `/workflows/${workflow}/runs?status=succeeded`);
  await until(async () => (await runs()).length === 1, "the run ends after its runner was killed");
  expect([await valueOf("branch"), await valueOf("other")]).toEqual([111, 2]);
});

it("increments a key once although its process, its runner or the process with the stores was killed", async () => {
  const { id: store } = await call<{ readonly id: string }>("POST", "/data_stores", { name: "counts" });
  const steps = [{ name: "a", component_code: code, props: { store } }];
  const { id: workflow } = await call<{ readonly id: string }>("POST", "/workflows", {
    name: "Counts",
    triggers: [{ type: "http" }],
    steps,
  });
  const entry = (key: string): string => `/data_stores/${store}/entries/${key}`;
  for (const target of targets) {
    // The answer waits for the end of the run.
    const started = call<{ readonly id: string }>("POST", `/workflows/${workflow}/runs`, { event: { key: target } });
    started.catch(() => undefined); // Killed processes may end the wait.
    await until(async () => (await cluster.call("GET", entry(`${target}-begun`))).status === 200, "the step has incremented the key");
    await cluster.kill(target);
    await until(async () => (await cluster.call("PUT", entry("go"), { value: target })).status === 200, "the run may go on");
    const ended = async (): Promise<boolean> =>
      (await call<readonly Run[]>("GET", `/workflows/${workflow}/runs?status=succeeded`)).length > targets.indexOf(target);
    await until(ended, `the run ends after ${target} was killed`);
    expect(await call("GET", entry(target))).toMatchObject({ value: 111 });
  }
});
