import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { call, deploy, type Endpoint, makeNamespace, namespace, newOwnerOf, owned, request, state, report } from "./installation.ts";
import { nodeShell, onNode } from "./node-shell.ts";
import { conditionOf, get, isReady, kubectl, list, tryKubectl } from "./kubectl.ts";
import { countingSources, expectNothingLost, startLoad } from "./load.ts";

const perSecond = 40;
let sources: readonly Endpoint[] = [];

beforeAll(async () => {
  sources = await countingSources("fault", 3);
});
afterAll(async () => {
  await tryKubectl(["-n", owned, "delete", "sources,webhooks,subscriptions", ...sources.map(({ name }) => name)]);
});

const podsOf = (component: string) => list("pods", "-n", namespace, "-l", `app.kubernetes.io/component=${component}`);

/**
 * A pod that owns a volume is not forced away: its successor would be started beside it, and two servers would write the same files.
 * It has a second, and is killed.
 */
const abruptly = (component: string): readonly string[] =>
  ["nats", "postgres"].includes(component) ? ["--grace-period=1"] : ["--grace-period=0", "--force"];

/** Without a farewell, all of them at once: there is no other one to go on. */
async function killPods(component: string): Promise<void> {
  const before = await podsOf(component);
  expect(before.length, `there are pods of ${component}`).toBeGreaterThan(0);
  await kubectl(["-n", namespace, "delete", "pods", "-l", `app.kubernetes.io/component=${component}`, ...abruptly(component)]);
  const former = new Set(before.map(({ metadata }) => metadata.uid));
  await until(
    async () => {
      const now = await podsOf(component);
      return now.length >= before.length && now.every((pod) => !former.has(pod.metadata.uid) && isReady(pod));
    },
    `${component} is ready again`,
    { more: () => component },
  );
}

/** The operator that leads, while what it is to do is under way. */
async function killLeaderInRollout(): Promise<void> {
  const lease = await get("lease", "headwater-operator", namespace);
  const holder = String((lease["spec"] as Record<string, unknown>)["holderIdentity"]); // A Lease has a spec.
  const leader = holder.split("_")[0] ?? "";
  const rollout = JSON.stringify({
    spec: { resources: { requests: { cpu: `${50 + Math.floor(Math.random() * 40)}m`, memory: "400Mi" } } },
  });
  await kubectl(["patch", "runnerpool", "default", "--type=merge", "-p", rollout]);
  await kubectl(["-n", namespace, "delete", "pod", leader, "--grace-period=0", "--force"]);
  await until(async () => {
    const spec = (await get("lease", "headwater-operator", namespace))["spec"] as Record<string, unknown>; // A Lease has a spec.
    return spec["holderIdentity"] !== holder && spec["holderIdentity"] !== "";
  }, "another operator leads");
  await kubectl(["-n", namespace, "rollout", "status", "deployment/headwater-runner-default", "--timeout=120s"]);
}

/** First by a component within its isolate's limit, which its owner sees; then beyond it: the kernel kills processes of the pod. */
async function exhaustRunner(): Promise<void> {
  const greedy = `export default { name: "Greedy", props: { http: "$.interface.http" }, run() { const all = []; for (;;) all.push(new Uint8Array(16 << 20).fill(1)); } };`;
  const { endpoint, id } = await deploy("greedy", greedy);
  for (let n = 0; n < 3; n++) await request(endpoint, "POST", "{}");
  await until(
    async () => /memory|allocation/i.test((await call("GET", `/sources/${id}/runs?failed=true`)).text),
    "its owner sees the error",
  );
  const [runner] = (await podsOf("runner")).filter(isReady);
  // It ends by itself as well: a pod just below its limit can be very slow.
  const hoard = "const all = [], end = Date.now() + 10_000; while (Date.now() < end) all.push(Buffer.alloc(256 << 20, 1));";
  await tryKubectl(["-n", namespace, "exec", runner?.metadata.name ?? "", "--", "node", "-e", hoard], "", 60_000);
  await kubectl(["-n", owned, "delete", "source", "greedy", "--timeout=60s"]);
}

async function drainNode(): Promise<void> {
  const [node] = await list("nodes");
  const name = node?.metadata.name ?? "";
  try {
    const drain = [
      "drain",
      name,
      "--ignore-daemonsets",
      "--delete-emptydir-data",
      "--timeout=20s",
      "--pod-selector=app.kubernetes.io/name=headwater",
    ];
    // On a single node nothing can move away: what budgets protect stays until what was evicted runs again.
    await tryKubectl(drain);
  } finally {
    await kubectl(["uncordon", name]);
  }
  await until(async () => {
    const pods = (await list("pods", "-n", namespace, "-l", "app.kubernetes.io/component notin (setup,secrets)")).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    return pods.length >= 10 && pods.every(isReady);
  }, "everything runs again");
}

async function restartApiServer(): Promise<void> {
  await onNode("kill $(pidof kube-apiserver) && sleep 3");
  await until(async () => (await tryKubectl(["get", "--raw", "/readyz"])).code === 0, "the API server is ready again");
}

interface Fault {
  readonly what: string;
  readonly act: () => Promise<void>;
  readonly needsNode?: boolean;
}

const faults: readonly Fault[] = [
  ...["api", "ingress", "delivery", "builder", "operator", "runner", "nats", "postgres"].map((component) => ({
    what: `every pod of ${component} is killed`,
    act: () => killPods(component),
  })),
  { what: "the leading operator is killed in the middle of a rollout", act: killLeaderInRollout },
  { what: "the API server is restarted", act: restartApiServer, needsNode: true },
  { what: "a component takes all memory", act: exhaustRunner },
  { what: "the node is drained", act: drainNode },
];
const skipped = (needsNode: boolean | undefined): string | undefined =>
  needsNode === true && nodeShell === undefined ? "HEADWATER_TEST_NODE_SHELL names no command" : undefined;

describe("faults under load lose no accepted request", () => {
  for (const { what, act, needsNode } of faults) {
    const skip = skipped(needsNode);
    const title = `when ${what}${skip === undefined ? "" : ` (skipped: ${skip})`}`;
    (skip === undefined ? it : it.skip)(
      title,
      async () => {
        const load = await startLoad(sources, perSecond);
        await load.more(perSecond);
        await act().catch(async (error: unknown) => {
          await load.stop();
          throw new Error(`${String(error)}\n${await state()}`);
        });
        await load.more(perSecond * 2);
        const stopped = await load.stop();
        const accepted = stopped.sources.reduce((sum, source) => sum + source.accepted.length, 0);
        report(
          `${what}: ${stopped.sent} sent, ${accepted} accepted, not accepted ${JSON.stringify(stopped.refused)}, slowest ${Math.round(stopped.slowestMs)} ms`,
        );
        await expectNothingLost(stopped);
        await expectTruth();
      },
      300_000,
    );
  }
});

/** Every condition is true of the current spec. */
async function expectTruth(): Promise<void> {
  let wrong: readonly string[] = [];
  const areConditionsTrue = async (): Promise<boolean> => {
    const all = [...(await list("sources,subscriptions,webhooks,components", "-n", owned)), ...(await list("runnerpools"))];
    wrong = all
      .filter((object) => !isReady(object))
      .map(({ kind, metadata, status }) => `${kind} ${metadata.name} ${JSON.stringify(status)}`);
    return wrong.length === 0;
  };
  await until(areConditionsTrue, "every condition is true again", { more: () => wrong.join("\n") });
}

const withHook = (body: string): string =>
  `export default { name: "Hooked", hooks: { async deactivate() { ${body} } }, props: { http: "$.interface.http" }, run() {} };`;

describe("deletion", () => {
  it("runs hooks and ends finalizers of a namespace with sources", async () => {
    const name = "headwater-test-gone";
    await makeNamespace(name, { "headwater.dev/owner": await newOwnerOf(name) });
    for (let n = 0; n < 3; n++) await deploy(`hooked-${n}`, withHook(`console.log("bye")`), {}, name);
    await kubectl(["delete", "namespace", name, "--timeout=120s"], "", 130_000);
    expect((await tryKubectl(["get", "namespace", name])).stderr).toContain("NotFound");
  });

  it("deletes a source whose hook never returns after the maximum duration of a run", async () => {
    await deploy("stubborn", withHook("await new Promise(() => setInterval(() => undefined, 1_000));"));
    await kubectl(["-n", owned, "delete", "source", "stubborn", "--wait=false"]);
    await until(async () => (await tryKubectl(["-n", owned, "get", "source", "stubborn"])).code !== 0, "it is gone");
  });

  it("leaves no pod in Terminating", async () => {
    await until(
      async () => (await list("pods", "-n", namespace)).every(({ metadata }) => metadata.deletionTimestamp === undefined),
      "no pod is terminating",
    );
    expect(conditionOf((await list("runnerpools"))[0] ?? (await get("runnerpool", "default", "")), "Stalled")?.status).toBe("False");
  });
});
