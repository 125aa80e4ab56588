import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster, type Target } from "../support/system/cluster.ts";
import { until } from "../support/until.ts";

/**
 * Each process is killed at each step of a run that has all that steps may control. As many runs as it has steps go at once: the nth stops in
 * its nth step, where it is killed, so that one kill meets all of these points.
 */
const post = `const item = steps.item === undefined ? "" : " " + steps.item.item;
  await fetch(this.url, { method: "POST", body: JSON.stringify({ run: this.run, step: this.step + item, attempt: $.context.attempt }) });`;
const stepCode = (then: string): string =>
  `export default { name: "Step", type: "action", version: "1.0.0", props: { url: "string", run: "string", step: "string" },
  async run({ steps, $ }) { ${post} ${then} } };`;

interface Posted {
  readonly run: string;
  readonly step: string;
  readonly attempt: number;
  /** Of the last step: what it has read. */
  readonly read?: unknown;
}
interface EndedRun {
  readonly id: string;
  readonly status: string;
  readonly event: { readonly query: { readonly run: string } };
  readonly steps: readonly { readonly name: string; readonly outcome: string }[];
}

let service: Server;
let address: string;
let directory: TemporaryDirectory;
let cluster: Cluster;
let [workflow, endpoint] = ["", ""];

/** What steps have posted, in order, by run. */
const posted = new Map<string, Posted[]>();
/** Number of the step in which a run stops, and the responses for which it waits. */
const stopsAt = new Map<string, number>();
const stopped = new Map<string, ServerResponse>();
const ends = new Map<string, unknown>();

function take(request: Posted, response: ServerResponse): void {
  const { run, read } = request;
  if (read !== undefined) ends.set(run, read);
  const ofRun = posted.get(run) ?? [];
  posted.set(run, [...ofRun, request]);
  if (ofRun.length + 1 === stopsAt.get(run)) stopped.set(run, response);
  else response.end();
}

beforeAll(async () => {
  service = createServer((request, response) => {
    let text = "";
    request.on("data", (bytes) => (text += String(bytes)));
    request.on("end", () => take(JSON.parse(text) as Posted, response)); // Of the step above.
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(service.address() as AddressInfo).port}`; // Listening on TCP.
  directory = await temporaryDirectory("kill-points");
  cluster = await startCluster(directory.path);
  const called = await create("Called", [step("callee", "return 7;", "{{ steps.trigger.event.run }}")]);
  ({ id: workflow, endpoint } = await create("Everything", everything(called.id)));
});
afterAll(async () => {
  await cluster.stop();
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
  await directory.remove();
});

const step = (name: string, then = `return "${name}";`, run = "{{ steps.trigger.event.query.run }}") => ({
  name,
  component_code: stepCode(then),
  props: { url: address, run, step: name },
});

async function create(name: string, steps: readonly object[]): Promise<{ readonly id: string; readonly endpoint: string }> {
  const { status, body, text } = await cluster.call<{ data: { id: string; triggers: { endpoint_url: string }[] } }>("POST", "/workflows", {
    name,
    triggers: [{ type: "http" }],
    steps,
  });
  expect(status, text).toBe(200);
  return { id: body.data.id, endpoint: body.data.triggers[0]?.endpoint_url ?? "" };
}

/** All constructs, within one another. Its last step says what it has read. */
const everything = (called: string): readonly object[] => [
  step("start", "return [1, 2, 3];"),
  {
    name: "fork",
    parallel: [
      [
        step("a1"),
        { name: "guard", try: [step("bad", `throw new Error("no luck");`)], catch: [step("handled")], finally: [step("clean")] },
      ],
      [
        {
          name: "each",
          for_each: "{{ steps.start.$return_value }}",
          concurrency: 2,
          steps: [step("act", "return steps.item.item * 2;"), { name: "inner", parallel: [[step("x")], [step("y")]] }],
        },
      ],
      [step("delayed", "$.flow.delay(100); return 1;"), step("behind")],
      [
        {
          name: "check",
          switch: "{{ steps.start.$return_value.length }}",
          cases: [{ equals: 3, steps: [step("chosen")] }],
          default: [step("other")],
        },
        { name: "again", while: "{{ steps.turn?.$return_value !== 'turn' }}", max_iterations: 5, steps: [step("turn")] },
      ],
      [{ name: "call", workflow: called, event: { run: "{{ steps.trigger.event.query.run }}" }, wait: true }, step("after")],
    ],
  },
  { name: "decide", if: "{{ steps.call.$return_value === 7 }}", then: [step("seven")], else: [step("never")] },
  step(
    "last",
    `const { trigger, call, guard, ...read } = steps;
    const body = { run: this.run, step: "end", attempt: $.context.attempt, read: { ...read, called: call.$return_value, error: guard.$error.message } };
    await fetch(this.url, { method: "POST", body: JSON.stringify(body) });`,
  ),
];

async function begin(run: string, stopAt = 0): Promise<void> {
  stopsAt.set(run, stopAt);
  const { status } = await fetch(`${endpoint}?run=${run}`, { method: "POST" });
  expect(status).toBe(200);
}

/** The runs, in the order of their names, once all of them have ended. */
async function untilEnded(runs: readonly string[]): Promise<readonly EndedRun[]> {
  const known = new Map<string, EndedRun>();
  const missing = (): readonly string[] => runs.filter((run) => !known.has(run));
  const look = async (): Promise<boolean> => {
    if (!runs.every((run) => ends.has(run))) return false;
    const { body } = await cluster.call<{ data: readonly EndedRun[] }>("GET", `/workflows/${workflow}/runs?status=succeeded&limit=20`);
    for (const { id } of body.data) {
      const { body: run } = await cluster.call<{ data: EndedRun }>("GET", `/workflows/${workflow}/runs/${id}`);
      known.set(run.data.event.query.run, run.data);
    }
    return missing().length === 0;
  };
  const more = (): string =>
    `not ended: ${missing().join(", ")}; they have posted ${JSON.stringify(missing().map((run) => posted.get(run)))}`;
  await until(look, "each run has ended", { more });
  return runs.flatMap((run) => known.get(run) ?? []);
}

const committed = ({ steps }: EndedRun): readonly string[] => steps.map(({ name, outcome }) => `${name} ${outcome}`).toSorted();

const together = 8;
const targets: readonly Target[] = ["sandbox", "runner", "delivery", "operator", "ingress", "api", "builder", "nats", "postgres"];

describe("a run with all constructs", () => {
  let whole: { readonly read: unknown; readonly committed: readonly string[]; readonly points: number };
  beforeAll(async () => {
    await begin("whole");
    const [run] = await untilEnded(["whole"]);
    if (run === undefined) throw new Error("it has ended");
    whole = { read: ends.get("whole"), committed: committed(run), points: posted.get("whole")?.length ?? 0 };
    expect(whole.points).toBeGreaterThan(20);
  });

  it.each(targets)("ends as one without a kill, whichever of its steps %s is killed in", async (target) => {
    for (let first = 1; first <= whole.points; first += together) {
      const points = Array.from({ length: Math.min(together, whole.points + 1 - first) }, (_, index) => first + index);
      const runs = points.map((point) => `${target}-${point}`);
      await Promise.all(points.map((point) => begin(`${target}-${point}`, point)));
      await until(() => runs.every((run) => stopped.has(run)), "each run is in its step", {
        more: () => runs.filter((run) => !stopped.has(run)).join(", "),
      });
      const killed = cluster.kill(target);
      // Some steps end, and are committed, while the process dies; the others end while it starts again.
      for (const [index, run] of runs.entries()) {
        if (index === together / 2) await killed;
        stopped.get(run)?.end();
      }
      await killed;
      for (const run of await untilEnded(runs)) {
        const name = run.event.query.run;
        expect([name, ends.get(name), committed(run)]).toEqual([name, whole.read, whole.committed]);
        // What was interrupted is executed again, and knows it. The first attempt may have ended before its request.
        for (const [step, times] of Map.groupBy(posted.get(name) ?? [], (each) => each.step))
          expect([name, step, new Set(times.map(({ attempt }) => attempt)).size]).toEqual([name, step, times.length]);
      }
    }
  });
});
