import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { until } from "../support/until.ts";

/** Steps that use up a resource: their run fails with an error that names the limit, and the runs of another workflow succeed. */
let directory: TemporaryDirectory;
let headwater: Headwater;
beforeAll(async () => {
  directory = await temporaryDirectory("hostile-steps");
  headwater = await startHeadwater({ dataDirectory: join(directory.path, "data"), env: { HEADWATER_RUN_TIMEOUT: "3" } });
});
afterAll(async () => {
  await headwater.stop();
  await directory.remove();
});

interface Run {
  readonly status: string;
  readonly error: { readonly code?: string; readonly message: string } | null;
}

async function create(name: string, run: string): Promise<string> {
  const component_code = `export default { name: "Step", type: "action", version: "1.0.0", props: {}, ${run} };`;
  const { status, body, text } = await headwater.call<{ data: { id: string } }>("POST", "/workflows", {
    name,
    steps: [{ name: "step", component_code }],
  });
  expect(status, text).toBe(200);
  return body.data.id;
}

const start = (id: string) => headwater.call("POST", `/workflows/${id}/runs`, { event: {} });
const runsOf = async (id: string): Promise<readonly Run[]> =>
  (await headwater.call<{ data: readonly Run[] }>("GET", `/workflows/${id}/runs`)).body.data;

it.each([
  ["loops", `run() { for (;;) {} }`, /time|CPU/],
  ["never ends", `async run() { await new Promise(() => setInterval(() => {}, 1000)); }`, /time/],
  ["fills memory", `run() { const all = []; for (;;) all.push(new Array(100_000).fill(Math.random())); }`, /memory/],
  ["sends a flood", `run({ $ }) { for (let n = 0; n < 1e6; n++) $.send.emit({ raw_event: { n } }); }`, /send|emit|events/],
  ["returns too much", `run() { return "x".repeat(8e6); }`, /return|result|bytes|characters|large/],
])("fails the run of a step that %s, with an error that names the limit, and no other workflow", async (name, code, message) => {
  const [hostile, neighbour] = [await create(name, code), await create(`beside ${name}`, "run() { return 1; }")];
  await Promise.all([start(hostile), start(neighbour), start(neighbour)]);
  await until(async () => (await runsOf(hostile)).some(({ status }) => status === "failed"), "the hostile run has failed");
  expect((await runsOf(hostile))[0]?.error?.message).toMatch(message);
  await until(
    async () => (await runsOf(neighbour)).filter(({ status }) => status === "succeeded").length === 2,
    "the neighbour's runs succeed",
  );
});
