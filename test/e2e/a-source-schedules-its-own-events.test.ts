import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";

/** The fixture task-scheduler.mjs: a source that listens to itself, and emits with `delivery_ts`. */
const code = readFileSync(join(import.meta.dirname, "../../fixtures/components/task-scheduler.mjs"), "utf8");

interface Summary {
  readonly id: string;
  readonly event: unknown;
  readonly metadata: { readonly id?: string; readonly name: string; readonly delivery_ts?: number };
}
interface Task {
  readonly id: string;
  readonly at: string;
  readonly task: unknown;
}

const headwater = withSystem();
let receiver: Receiver;
let source = "";
let endpoint = "";

beforeAll(async () => {
  receiver = await startReceiver();
  const { status, body, text } = await headwater.call<{ data: { id: string; configured_props: { http: { endpoint_url: string } } } }>(
    "POST",
    "/sources",
    { component_code: code, configured_props: { api: headwater.apiUrl, apiKey: headwater.key } },
  );
  expect(status, text).toBe(200);
  source = body.data.id;
  endpoint = body.data.configured_props.http.endpoint_url;
  const webhook = await headwater.call<{ data: { id: string } }>("POST", `/webhooks?url=${encodeURIComponent(receiver.url)}`);
  for (const channel of ["", "tasks"])
    expect(
      (await headwater.call("POST", `/subscriptions?emitter_id=${source}&listener_id=${webhook.body.data.id}&event_name=${channel}`))
        .status,
    ).toBe(200);
});

afterAll(async () => {
  await receiver.close();
});

const ask = async (method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }> => {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(`${endpoint}${path}`, { method, ...init });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
};

async function schedule(task: string, inMs: number): Promise<string> {
  const { status, body } = await ask("POST", "/", { at: new Date(Date.now() + inMs).toISOString(), task });
  expect([status, body]).toEqual([202, { id: expect.any(String) as string }]);
  return (body as { id: string }).id; // Just asserted.
}

const listed = async (): Promise<readonly unknown[]> => ((await ask("GET", "/")).body as readonly Task[]).map(({ task }) => task); // Answered by the fixture.
const summaries = async (channel?: string): Promise<readonly Summary[]> => {
  const filter = channel === undefined ? "" : `&event_name=${encodeURIComponent(channel)}`;
  return (await headwater.call<{ data: Summary[] }>("GET", `/sources/${source}/event_summaries?expand=event${filter}`)).body.data;
};
const received = (text: string): number => receiver.received.filter(({ body }) => body.includes(text)).length;

describe("a source that schedules tasks for itself", () => {
  it("may listen to itself on a named channel, but not on the default channel or a system channel", async () => {
    const own = await headwater.call("GET", "/users/me/subscriptions");
    expect(own.text).toContain(`"emitter_id":"${source}","listener_id":"${source}","event_name":"tasks"`);
    for (const channel of ["", "$errors", "$logs"]) {
      const refused = await headwater.call<{ code: string; error: string }>(
        "POST",
        `/subscriptions?emitter_id=${source}&listener_id=${source}&event_name=${channel}`,
      );
      expect([refused.status, refused.body.code]).toEqual([422, "self_subscription"]);
      expect(refused.body.error).toContain("cannot listen to itself on");
    }
  });

  it("lists a task on $in until it is due, then emits it once, on its channel", async () => {
    const id = await schedule("soon", 2_500);
    await until(async () => (await listed()).includes("soon"), "the task is listed");
    const [entry] = await summaries("$in");
    expect(entry).toMatchObject({
      event: { id, task: "soon" },
      metadata: { id, name: "tasks", delivery_ts: expect.any(Number) as number },
    });
    expect([await summaries(), received("soon")]).toEqual([[], 0]);

    await until(() => received("soon") === 2, "its two events are delivered");
    await until(async () => (await summaries()).length === 2, "both are in the history");
    const [emitted, due] = await summaries();
    expect([emitted, due]).toMatchObject([
      { event: "soon", metadata: { name: "" } },
      { event: { id, task: "soon" }, metadata: { id, name: "tasks" } },
    ]);
    expect(due?.id.split("-")[0]).toBe(String(entry?.metadata.delivery_ts));
    expect(due?.metadata).not.toHaveProperty("delivery_ts");
    expect([await listed(), await summaries("$in")]).toEqual([[], []]);
  });

  it("cancels a task before it is due, for every listener", async () => {
    const [canceled, kept] = [await schedule("canceled", 4_000), await schedule("kept", 4_000)];
    await until(async () => (await listed()).length === 2, "both are listed");
    expect((await ask("DELETE", `/${canceled}`)).status).toBe(204);
    expect(await listed()).toEqual(["kept"]);
    expect((await ask("DELETE", `/${canceled}`)).status).toBe(404);
    await until(() => received(kept) === 1 && received('"kept"') === 2, "the other task is delivered");
    expect(received("canceled")).toBe(0);
    expect((await summaries()).filter(({ event }) => JSON.stringify(event).includes("canceled"))).toEqual([]);
  });

  it("drops its scheduled events when it is deleted", async () => {
    await schedule("of a deleted source", 3_000);
    await until(async () => (await listed()).length === 1, "the task is listed");
    expect((await headwater.call("DELETE", `/sources/${source}`)).status).toBe(204);
    const other = await headwater.call<{ data: { id: string } }>("POST", "/sources", {
      component_code: `export default { name: "Later", run() { this.$emit("of another source", { delivery_ts: Date.now() + 4_000 }); } };`,
    });
    const webhooks = await headwater.call<{ data: { id: string }[] }>("GET", "/users/me/webhooks");
    await headwater.call("POST", `/subscriptions?emitter_id=${other.body.data.id}&listener_id=${webhooks.body.data[0]?.id}`);
    await headwater.call("POST", `/sources/${other.body.data.id}/runs`, { event: null });
    await until(() => received("of another source") === 1, "an event that is due later is delivered");
    expect(received("of a deleted source")).toBe(0);
  });
});
