import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster, type Target } from "../support/system/cluster.ts";
import { until } from "../support/until.ts";
import { dataOf, endedRun, type EndedRun } from "./support/workflow-steps.ts";

/** Steps of a run in different processes, which die in between. */
let directory: TemporaryDirectory;
let cluster: Cluster;
beforeAll(async () => {
  directory = await temporaryDirectory("files");
  cluster = await startCluster(directory.path);
});
afterAll(async () => {
  await cluster.stop();
  await directory.remove();
});

const step = (name: string, body: string) => ({
  name,
  component_code: `import fs from "node:fs"; import { pipeline } from "node:stream/promises";
    export default { type: "action", name: "${name}", version: "1.0.0", props: { go: "data_store" }, async run({ steps, $ }) { ${body} } };`,
});

const call = <Data>(method: string, path: string, body?: unknown): Promise<Data> => dataOf(cluster, method, path, body);

async function runOnce(steps: readonly object[], event: unknown = {}): Promise<{ readonly workflow: string; ended(): Promise<EndedRun> }> {
  const { id: workflow } = await call<{ readonly id: string }>("POST", "/workflows", { name: "Files", steps });
  call("POST", `/workflows/${workflow}/runs`, { event }).catch(() => undefined); // Killed processes may end the wait.
  return { workflow, ended: () => endedRun(cluster, workflow) };
}

const returnedBy = ({ steps }: EndedRun, name: string): unknown => steps.find((each) => each.name === name)?.return_value;

it("gives each step the files of those before it, although processes die in between", async () => {
  const { id: store } = await call<{ readonly id: string }>("POST", "/data_stores", { name: "go" });
  const waitFor = (target: string): string =>
    `await this.go.set("at-${target}", 1); while ((await this.go.get("go-${target}")) !== 1) await new Promise((done) => setTimeout(done, 50));`;
  const targets: readonly Target[] = ["sandbox", "runner", "nats"];
  const steps = [
    step("save", `fs.mkdirSync("/tmp/out"); fs.writeFileSync("/tmp/out/a.txt", "first"); await $.files.open("b.txt").write("second");`),
    ...targets.map((target, index) =>
      step(
        `add${index}`,
        `fs.appendFileSync("/tmp/out/a.txt", " lost?"); ${waitFor(target)}
         fs.writeFileSync("/tmp/out/a.txt", fs.readFileSync("/tmp/out/a.txt", "utf8").replaceAll(" lost?", "") + " ${target}");`,
      ),
    ),
    step(
      "read",
      `return [fs.readFileSync("/tmp/out/a.txt", "utf8"), await $.files.open("b.txt").toEncodedString(), fs.readdirSync("/tmp/out")];`,
    ),
  ].map((each) => ({ ...each, props: { go: { storeId: store } } }));
  const { ended } = await runOnce(steps);
  for (const target of targets) {
    const entry = `/data_stores/${store}/entries`;
    await until(async () => (await cluster.call("GET", `${entry}/at-${target}`)).status === 200, `the step that ${target} is killed in`);
    await cluster.kill(target);
    await until(async () => (await cluster.call("PUT", `${entry}/go-${target}`, { value: 1 })).status === 200, "it may go on");
  }
  expect(returnedBy(await ended(), "read")).toEqual(["first sandbox runner nats", "second", ["a.txt"]]);
});

it("streams a file of 100 MiB from one step to the next", async () => {
  const { id: store } = await call<{ readonly id: string }>("POST", "/data_stores", { name: "none" });
  const steps = [
    step(
      "make",
      `async function* blocks() { for (let n = 0; n < 400; n++) yield Buffer.alloc(262144, n % 251); }
       await pipeline(blocks(), fs.createWriteStream("/tmp/large.bin"));`,
    ),
    step(
      "check",
      `let [bytes, wrong] = [0, 0];
       for await (const chunk of fs.createReadStream("/tmp/large.bin")) for (const byte of chunk) if (byte !== Math.floor(bytes++ / 262144) % 251) wrong++;
       return [fs.statSync("/tmp/large.bin").size, bytes, wrong];`,
    ),
  ].map((each) => ({ ...each, props: { go: { storeId: store } } }));
  const run = await (await runOnce(steps)).ended();
  expect(run.status, JSON.stringify(run)).toBe("succeeded");
  expect(returnedBy(run, "check")).toEqual([104_857_600, 104_857_600, 0]);
});
