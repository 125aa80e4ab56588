import { expect, it } from "vitest";
import { errorEvent } from "../../../domain/run/derived-events.ts";
import type { RunError } from "../../../domain/run-products.ts";
import { partitionCount } from "../../../domain/subjects.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { returned, stepOf, threw, treeOf, withWorkflows } from "./support.ts";

/** Real streams and runners; the code of steps is a function of the test. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const { deploy, start, invoke, commits } = withWorkflows(nats);

async function untilEnded(workflow: string): Promise<readonly string[]> {
  await until(
    async () => ["succeeded", "failed", "exited"].includes((await commits(workflow)).at(-1)?.workflow.status ?? ""),
    "the run has ended",
  );
  return (await commits(workflow)).map(({ workflow: { step, status } }) => `${step?.name} ${step?.outcome} ${status}`);
}

it("goes on at the item and the branch at which a runner was killed, without deciding again", async () => {
  await deploy(
    treeOf("p_loop", [{ name: "each", forEach: "{{ 1 }}", steps: [{ name: "check", if: "{{ 1 }}", then: [{ name: "act" }] }] }]),
  );
  const executed: string[] = [];
  const code =
    (hangs: boolean) =>
    async ({ name, steps }: { readonly name: string; readonly steps: Record<string, Record<string, unknown>> }) => {
      const item = steps["item"]?.["item"] as string | undefined; // One of the list below.
      executed.push(item === undefined ? name : `${name} ${item}`);
      if (hangs && name === "act" && item === "b") await new Promise(() => undefined);
      return returned(name === "each" ? ["a", "b", "c"] : name === "check" ? 0 : `did ${item}`);
    };
  const killed = await start("r_killed", code(true));
  await invoke({ source: "p_loop", trigger: "http", event: {} });
  await until(() => executed.includes("act b"), "it acts for the second item");
  await killed.stop(AbortSignal.abort());
  await start("r_next", code(false));
  const ended = await untilEnded("p_loop");
  expect(executed).toEqual(["each", "check a", "act a", "check b", "act b", "act b", "check c", "act c"]);
  expect(ended.at(-1)).toBe("act succeeded succeeded");
});

it("leaves a loop whose last step was suspended, when its time has come", async () => {
  await deploy(treeOf("p_wait", [{ name: "each", forEach: "{{ 1 }}", steps: [{ name: "pause" }] }, { name: "sum" }]));
  let seen: unknown;
  await start("r_wait", ({ name, steps }) => {
    if (name === "sum") seen = steps["each"];
    return name === "pause" ? returned("waited", { flow: { kind: "delay", ms: 1 } }) : returned(name === "each" ? [1, 2] : null);
  });
  await invoke({ source: "p_wait", trigger: "http", event: {} });
  expect(await untilEnded("p_wait")).toEqual([
    "each succeeded running",
    "pause suspended suspended",
    "pause suspended suspended",
    "sum succeeded succeeded",
  ]);
  expect(seen).toEqual({ $results: ["waited", "waited"] });
});

it("masks the secrets of a step in the error with which its run fails behind a finally", async () => {
  const workflow = treeOf("p_secret", [{ name: "guard", try: [{ name: "act" }], finally: [{ name: "clean" }] }]);
  const secrets = JSON.stringify({ token: "s3cr3t-token" });
  await deploy({ ...workflow, steps: workflow.steps.map((step) => (step.name === "act" ? { ...step, secrets } : step)) });
  await start("r_secret", ({ name }) => (name === "act" ? threw("no luck with s3cr3t-token") : returned(null)));
  await invoke({ source: "p_secret", trigger: "http", event: {} });
  await untilEnded("p_secret");
  const all = await commits("p_secret");
  expect(all.at(-1)?.error?.message).toMatch(/^no luck with /);
  expect(JSON.stringify(all)).not.toContain("s3cr3t-token");
});

it("fails with the error of a step after its finally has run, and says so once", async () => {
  await deploy(treeOf("p_finally", [{ name: "guard", try: [{ name: "act" }], finally: [{ name: "clean" }] }, { name: "never" }]));
  await start("r_finally", ({ name }) => (name === "act" ? threw("no luck") : returned(null)));
  await invoke({ source: "p_finally", trigger: "http", event: {} });
  expect(await untilEnded("p_finally")).toEqual(["guard succeeded running", "act continued running", "clean succeeded failed"]);
  const all = await commits("p_finally");
  expect(all.map(({ error }) => error?.message)).toEqual([undefined, undefined, "no luck"]);
  const [last] = all.slice(-1);
  const act = stepOf("p_finally", "act").id;
  expect(last?.workflow.failedStep).toEqual({ id: act, name: "act" });
  const { error, ...commit } = last ?? {};
  expect(JSON.parse(errorEvent(commit as Parameters<typeof errorEvent>[0], error as RunError).payload).error.cellId).toBe(act);
});
