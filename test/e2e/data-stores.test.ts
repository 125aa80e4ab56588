import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { withSystem } from "../support/system/system.ts";

/** Data stores that a source, steps of workflows and REST share, in a whole installation. */
const headwater = withSystem();

const action = (run: string): string =>
  `export default { name: "A step", type: "action", version: "1.0.0", props: { store: "data_store" }, async run({ steps, $ }) { ${run} } };`;

interface Step {
  readonly return_value?: unknown;
  readonly error?: { readonly message: string; readonly code?: string } | null;
}
interface Run {
  readonly id: string;
  readonly status: string;
  readonly steps: readonly Step[];
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await headwater.call<{ readonly data: T }>(method, path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body?.data;
}
const createStore = async (name = "orders"): Promise<string> => (await call<{ readonly id: string }>("POST", "/data_stores", { name })).id;
const valueOf = async (store: string, key: string): Promise<unknown> =>
  (await call<{ readonly value: unknown }>("GET", `/data_stores/${store}/entries/${key}`)).value;
const createWorkflow = async (code: string, store: unknown, settings: object = {}): Promise<string> => {
  const steps = [{ name: "a", component_code: action(code), props: { store } }];
  return (await call<{ readonly id: string }>("POST", "/workflows", { name: "Stores", steps, settings })).id;
};

async function ended(workflow: string, id: string): Promise<Run> {
  let found: Run | undefined;
  await until(async () => {
    const { status, body } = await headwater.call<{ readonly data: Run }>("GET", `/workflows/${workflow}/runs/${id}`);
    found = status === 200 ? body.data : undefined;
    return found !== undefined && !["queued", "running", "suspended"].includes(found.status);
  }, "the run ends");
  if (found === undefined) throw new Error("no run");
  return found;
}
const start = async (workflow: string, event: unknown = {}): Promise<string> =>
  (await call<{ readonly id: string }>("POST", `/workflows/${workflow}/runs`, { event })).id;
const run = async (workflow: string, event: unknown = {}): Promise<Run> => ended(workflow, await start(workflow, event));

describe("a data store", () => {
  it("is shared by a source, the steps of a workflow and REST", async () => {
    const store = await createStore();
    await call("PUT", `/data_stores/${store}/entries/rest`, { value: { from: "REST" } });
    const workflow = await createWorkflow(
      `await this.store.set("step", [await this.store.get("rest"), await this.store.get("missing", "none")]); return this.store.keys();`,
      { storeId: store },
    );
    const first = await run(workflow);
    expect(first.steps[0]?.return_value, JSON.stringify(first)).toEqual(["rest", "step"]);
    expect(await valueOf(store, "step")).toEqual([{ from: "REST" }, "none"]);
    const code = `export default { name: "Keeper", version: "1.0.0", props: { store: "data_store", own: "data_store" }, async run() {
      await this.own.set("mine", 1);
      await this.store.set("source", (await this.store.get("step")).length + (await this.own.size()));
    } };`;
    const source = await call<{ readonly id: string }>("POST", "/sources", { component_code: code, configured_props: { store } });
    await call("POST", `/sources/${source.id}/runs`, {});
    await until(async () => (await headwater.call("GET", `/data_stores/${store}/entries/source`)).status === 200, "the source has run");
    expect(await valueOf(store, "source")).toBe(3);
    const refused = await headwater.call<{ readonly code: string; readonly details: unknown }>("DELETE", `/data_stores/${store}`);
    expect([refused.status, refused.body.code, refused.body.details]).toEqual([
      409,
      "data_store_in_use",
      { sources: [source.id], workflows: [workflow] },
    ]);
    expect((await headwater.call("DELETE", `/data_stores/${store}?force=true`)).status).toBe(204);
    const after = await run(workflow);
    expect([after.status, after.steps[0]?.error]).toMatchObject(["failed", { message: expect.stringContaining("does not exist") }]);
  });

  it("sums up increments of runs that go side by side exactly", async () => {
    const store = await createStore("counts");
    const workflow = await createWorkflow(
      `const sums = await Promise.all([1, 2, 3].map(() => this.store.increment("n", steps.trigger.event.by))); return sums.length;`,
      store,
    );
    const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => start(workflow, { by: n })));
    for (const id of ids) expect((await ended(workflow, id)).status).toBe("succeeded");
    expect(await valueOf(store, "n")).toBe(3 * ((11 * 12) / 2));
  });

  it("counts the increments of an attempt that failed, and those of its repetition", async () => {
    const store = await createStore("attempts");
    const code = action(`const n = await this.store.increment("n"); if (n < 3) throw new Error("again"); return n;`);
    const steps = [{ name: "a", component_code: code, props: { store }, retries: 3 }];
    const { id } = await call<{ readonly id: string }>("POST", "/workflows", { name: "Retried", steps });
    const { status, steps: attempts } = await run(id);
    expect([status, attempts.at(-1)?.return_value]).toEqual(["succeeded", 3]);
  });

  it("lets a step set a key only if no other has changed it, and expire", async () => {
    const store = await createStore("locks");
    const workflow = await createWorkflow(
      `const { version, value } = (await this.store.entry("a")) ?? { version: 0, value: 0 };
       await this.store.set("a", value + 1, { if_version: version, ttl: 2 });
       try { await this.store.set("a", 0, { if_version: version }); } catch (error) { return [error.code, await this.store.get("a")]; }`,
      store,
    );
    expect((await run(workflow)).steps[0]?.return_value).toEqual(["data_store_changed", 1]);
    await until(async () => (await headwater.call("GET", `/data_stores/${store}/entries/a`)).status === 404, "the key expires");
  });

  it("is not that of another owner, neither by REST nor by a prop", async () => {
    const other = await headwater.addUser();
    const foreign = (await other.call<{ readonly data: { readonly id: string } }>("POST", "/data_stores", { name: "secret" })).body.data.id;
    await other.call("PUT", `/data_stores/${foreign}/entries/a`, { value: "secret" });
    expect((await headwater.call("GET", `/data_stores/${foreign}/entries/a`)).status).toBe(404);
    const steps = [{ name: "a", component_code: action("return 1"), props: { store: foreign } }];
    const { status, text } = await headwater.call("POST", "/workflows", { name: "Thief", steps });
    expect([status, text]).toEqual([422, expect.stringContaining("not found among those of the source's owner")]);
  });

  it("is none for a step whose prop is not configured", async () => {
    const steps = [{ name: "a", component_code: action(`await this.store.set("a", 1);`) }];
    const { id } = await call<{ readonly id: string }>("POST", "/workflows", { name: "Unconfigured", steps });
    expect((await run(id)).steps[0]?.error).toMatchObject({ message: expect.stringContaining("configured with a data store") });
  });
});
