import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";

interface Source {
  readonly data: {
    readonly id: string;
    readonly active: boolean;
    readonly name_slug: string;
    readonly component_id: string;
    readonly configured_props: Record<string, { endpoint_url?: string; interval_seconds?: number }>;
  };
}
interface Events {
  readonly page_info: { readonly total_count: number };
  readonly data: readonly {
    readonly id: string;
    readonly event: Record<string, unknown>;
    readonly metadata: Record<string, unknown>;
  }[];
}

const headwater = withSystem();
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
});

const eventsOf = async (id: string): Promise<Events> =>
  (await headwater.call<Events>("GET", `/sources/${id}/event_summaries?expand=event&limit=100`)).body;
const fixture = (name: string): Promise<string> => readFile(join(import.meta.dirname, "..", "..", "fixtures", "components", name), "utf8");

const httpComponent = `
export default {
  name: "Requests",
  version: "0.1.0",
  props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" },
  async run(event) {
    const count = (this.db.get("count") ?? 0) + 1;
    this.db.set("count", count);
    this.http.respond({ status: 201, headers: { "x-count": String(count) }, body: { count } });
    this.$emit({ count, path: event.path, body: event.body }, { summary: "request " + count });
  },
};`;

describe("a component and its signed webhook", () => {
  it("deploys a timer source that ticks", async () => {
    const created = await headwater.call<Source>("POST", "/sources", {
      component_code: await fixture("timer-counter.mjs"),
      configured_props: { timer: { intervalSeconds: 1 } },
    });
    expect(created.status, created.text).toBe(200);
    const { id } = created.body.data;
    await until(async () => (await eventsOf(id)).data.length >= 2, "two ticks are in the history");
    expect((await headwater.call("DELETE", `/sources/${id}`)).status).toBe(204);
  });

  it("responds to requests, stores events, delivers them signed, and is updated, paused and deleted", async () => {
    const component = await headwater.call<{ data: { id: string } }>("POST", "/components", {
      component_code: httpComponent,
    });
    expect(component.status, component.text).toBe(200);
    const created = await headwater.call<Source>("POST", "/sources", {
      component_id: component.body.data.id,
      name: "My requests",
    });
    expect(created.status, created.text).toBe(200);
    const { id, configured_props, active, name_slug } = created.body.data;
    expect([active, name_slug]).toEqual([true, "my-requests"]);
    const endpoint = configured_props["http"]?.endpoint_url ?? "";

    const webhook = await headwater.call<{ data: { id: string; signing_key: string } }>(
      "POST",
      `/webhooks?url=${encodeURIComponent(receiver.url)}&name=mine`,
    );
    expect(webhook.status, webhook.text).toBe(200);
    const subscription = await headwater.call("POST", `/subscriptions?emitter_id=${id}&listener_id=${webhook.body.data.id}`);
    expect(subscription.status, subscription.text).toBe(200);

    const answer = await fetch(`${endpoint}/deep/er?x=1`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"hello":"world"}',
    });
    expect([answer.status, answer.headers.get("x-count"), await answer.json()]).toEqual([201, "1", { count: 1 }]);

    await until(() => receiver.received.length === 1, "the webhook receives the event");
    const [{ body, headers }] = receiver.received as [Receiver["received"][number]];
    expect(JSON.parse(body)).toEqual({ count: 1, path: "/deep/er", body: { hello: "world" } });
    expect(new Webhook(webhook.body.data.signing_key).verify(body, headers as Record<string, string>)).toBeDefined();

    await until(async () => (await eventsOf(id)).data.length === 1, "the event is stored");
    const [event] = (await eventsOf(id)).data;
    expect(event?.metadata).toMatchObject({ emitter_id: id, name: "", summary: "request 1" });

    const changed = await headwater.call<Source>("PUT", `/sources/${id}`, {
      component_code: httpComponent.replace("201", "202"),
      name: "My requests",
    });
    expect([changed.status, changed.body.data.id], changed.text).toEqual([200, id]);
    expect((await fetch(endpoint, { method: "POST" })).status).toBe(202);

    expect(
      (await headwater.call<Source>("PUT", `/sources/${id}`, { component_id: component.body.data.id, active: false })).body.data.active,
    ).toBe(false);
    expect((await fetch(endpoint)).status).toBe(404);
    expect((await headwater.call("DELETE", `/sources/${id}`)).status).toBe(204);
    expect((await headwater.call("GET", `/sources/${id}`)).status).toBe(404);
    expect((await fetch(endpoint)).status).toBe(404);
  });

  it("passes a secret to the code only, and reports the line of the file that threw", async () => {
    const code = `export default {
  name: "Careful",
  props: { token: { type: "string", secret: true }, http: "$.interface.http" },
  async run() {
    this.$emit({ length: this.token.length });
    throw new Error("line six");
  },
};`;
    const missing = await headwater.call("POST", "/sources", { component_code: code });
    expect(missing.status, missing.text).toBe(422);
    const created = await headwater.call<Source>("POST", "/sources", {
      component_code: code,
      configured_props: { token: "s3cret-value" },
    });
    expect(created.status, created.text).toBe(200);
    const { id } = created.body.data;
    const run = await headwater.call<{ data: { error: { message: string; stack: string } } }>("POST", `/sources/${id}/runs`, {});
    expect(run.body.data.error.message).toBe("line six");
    expect(run.body.data.error.stack).toMatch(/component\.js:6:\d+/);
    await until(async () => (await eventsOf(id)).data.length === 1, "its event is stored");
    expect((await eventsOf(id)).data[0]?.event).toEqual({ length: 12 });
    for (const path of [`/sources/${id}`, "/users/me/sources", `/sources/${id}/logs`])
      expect((await headwater.call("GET", path)).text).not.toContain("s3cret");
  });

  it("runs a source on request, and returns the result", async () => {
    const created = await headwater.call<Source>("POST", "/sources", { component_code: httpComponent });
    const run = await headwater.call<{ data: { error: unknown; events: unknown[] } }>("POST", `/sources/${created.body.data.id}/runs`, {
      event: { path: "/by-hand" },
    });
    expect(run.status, run.text).toBe(200);
    expect(run.body.data.error).toBeNull();
    await until(async () => (await eventsOf(created.body.data.id)).data.length === 1, "its event is stored");
  });
});
