import { describe, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { until } from "../support/until.ts";
import type { Called } from "../support/system/client.ts";

/** Emits the number of events that the request names, with its size and after its delay. */
const maker = `
export default {
  name: "Maker",
  props: { http: "$.interface.http" },
  async run({ body, headers }) {
    await new Promise((resolve) => setTimeout(resolve, body.takesMs ?? 0));
    for (let n = 0; n < (body.times ?? 1); n++) this.$emit({ n, text: "x".repeat(body.bytes ?? 0), received: body.text?.length });
  },
};`;

interface Source {
  readonly data: {
    readonly id: string;
    readonly name: string;
    readonly name_slug: string;
    readonly configured_props: { readonly http?: { readonly endpoint_url: string } };
  };
}

const headwater = withSystem();

async function deploy(more: object = {}, code = maker): Promise<{ readonly id: string; readonly endpoint: string; readonly slug: string }> {
  const { status, body, text } = await headwater.call<Source>("POST", "/sources", { component_code: code, ...more });
  expect(status, text).toBe(200);
  return { id: body.data.id, endpoint: body.data.configured_props.http?.endpoint_url ?? "", slug: body.data.name_slug };
}
const post = (endpoint: string, text: string): Promise<Response> =>
  fetch(endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: text });
const eventsOf = (
  id: string,
): Promise<
  Called<{
    page_info: { total_count: number };
    data: readonly { event: { n: number; received?: number; text: string } }[];
  }>
> => headwater.call("GET", `/sources/${id}/event_summaries?expand=event&limit=100`);

describe("large payloads", () => {
  it("accepts a body of 512 KiB and refuses one more byte", async () => {
    const { id, endpoint } = await deploy();
    const frame = '{"text":""}';
    const full = 512 * 1_024 - frame.length;
    const withText = (length: number): string => `{"text":"${"y".repeat(length)}"}`;
    const refused = await post(endpoint, withText(full + 1));
    expect(refused.status).toBe(413);
    expect((await post(endpoint, withText(full))).status).toBe(200);
    await until(async () => (await eventsOf(id)).body.data.length === 1, "the largest body has run");
    expect((await eventsOf(id)).body.data[0]?.event.received).toBe(full);
  });

  it("stores an event of 1 MiB of JSON, and reports an error for one more character", async () => {
    const { id, endpoint } = await deploy();
    const full = 1_048_576 - '{"n":0,"text":""}'.length;
    for (const bytes of [full + 1, full]) expect((await post(endpoint, JSON.stringify({ bytes }))).status).toBe(200);
    await until(async () => (await eventsOf(id)).body.data.length === 1, "the largest event is stored");
    expect((await eventsOf(id)).body.data[0]?.event.text).toHaveLength(full);
    expect((await headwater.call("GET", `/sources/${id}/logs`)).text).toContain("emit_too_large");
  });

  it("stores 500 events of one run, in order", async () => {
    const { id, endpoint } = await deploy();
    expect((await post(endpoint, JSON.stringify({ times: 500 }))).status).toBe(200);
    await until(async () => (await eventsOf(id)).body.page_info.total_count === 500, "500 events are stored");
    expect((await eventsOf(id)).body.data.map(({ event }) => event.n)).toEqual(Array.from({ length: 100 }, (_, index) => 499 - index));
  });

  it("deploys a component of 1 MiB", async () => {
    const { id, endpoint } = await deploy({}, `${maker}\n/* ${"z".repeat(1_048_576 - maker.length - 8)} */`);
    expect((await post(endpoint, "{}")).status).toBe(200);
    await until(async () => (await eventsOf(id)).body.data.length === 1, "it runs");
  });
});

describe("concurrent requests", () => {
  it("creates 200 sources concurrently, each with its own slug and address", async () => {
    const { body } = await headwater.call<{ data: { id: string } }>("POST", "/components", { component_code: maker });
    const make = (): Promise<Called<Source>> => headwater.call("POST", "/sources", { component_id: body.data.id, name: "One of many" });
    const made = await Promise.all(Array.from({ length: 200 }, make));
    expect(made.filter(({ status }) => status !== 200).map(({ status, text }) => [status, text])).toEqual([]);
    expect(new Set(made.map(({ body: { data } }) => data.name_slug)).size).toBe(200);
    const endpoints = made.map(({ body: { data } }) => data.configured_props.http?.endpoint_url ?? "");
    expect(new Set(endpoints).size).toBe(200);
    const [first, last] = [made[0]?.body.data.id ?? "", made[199]?.body.data.id ?? ""];
    for (const endpoint of [endpoints[0], endpoints[199]]) expect((await post(endpoint ?? "", "{}")).status).toBe(200);
    await until(async () => (await eventsOf(first)).body.data.length + (await eventsOf(last)).body.data.length === 2, "they run");
  });

  it("applies one of 20 concurrent changes of a source last", async () => {
    const { id, endpoint } = await deploy();
    const changes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        headwater.call<Source>("PUT", `/sources/${id}`, { component_code: `${maker}//${n % 4}`, name: `change ${n}` }),
      ),
    );
    const statuses = changes.map(({ status }) => status);
    expect(
      statuses.filter((status) => ![200, 409].includes(status)),
      JSON.stringify(changes.map(({ text }) => text)),
    ).toEqual([]);
    expect(statuses).toContain(200);
    const now = await headwater.call<Source>("GET", `/sources/${id}`);
    expect(now.body.data.name).toMatch(/^change \d+$/);
    expect((await post(endpoint, "{}")).status).toBe(200);
    await until(async () => (await eventsOf(id)).body.data.length === 1, "it runs");
  });
});

describe("a source that is deleted", () => {
  it("during a run stores nothing of the run, and frees its name", async () => {
    const first = await deploy({ name: "Phoenix" });
    expect((await post(first.endpoint, JSON.stringify({ takesMs: 2_000 }))).status).toBe(200);
    expect((await headwater.call("DELETE", `/sources/${first.id}`)).status).toBe(204);
    expect((await headwater.call("GET", `/sources/${first.id}`)).status).toBe(404);
    const second = await deploy({ name: "Phoenix" });
    expect([second.slug, second.id === first.id]).toEqual([first.slug, false]);
    await new Promise((resolve) => setTimeout(resolve, 2_500)); // The run of the first source ends in the meantime.
    expect((await eventsOf(first.id)).status).toBe(404);
    expect((await eventsOf(second.id)).body.page_info.total_count).toBe(0);
    expect((await post(first.endpoint, "{}")).status).toBe(404);
    expect((await post(second.endpoint, "{}")).status).toBe(200);
    await until(async () => (await eventsOf(second.id)).body.page_info.total_count === 1, "the second runs");
  });
});
