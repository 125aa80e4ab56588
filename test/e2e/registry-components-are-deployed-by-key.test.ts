import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { until } from "../support/until.ts";

/** Deploys the components of each installation as a user does: by key, with the props of their pages. */
interface Source {
  readonly id: string;
  readonly component_id: string;
  readonly configured_props: { readonly http?: { readonly endpoint_url: string } };
}

const headwater = withSystem();
/** Serves a feed with this number of items. */
let feed: Server;
let items = 2;

beforeAll(async () => {
  feed = createServer((_, response) => {
    const list = Array.from({ length: items }, (_item, n) => `<item><guid>${n}</guid><title>Item ${n}</title></item>`).toReversed();
    response.end(`<rss><channel><title>Feed</title>${list.join("")}</channel></rss>`);
  });
  await new Promise<void>((resolve) => feed.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  feed.closeAllConnections();
  feed.close();
});

async function deploy(key: string, configured_props: object = {}): Promise<Source> {
  const { status, body, text } = await headwater.call<{ data: Source }>("POST", "/sources", { key, configured_props });
  expect(status, text).toBe(200);
  return body.data;
}
const run = (id: string, event: unknown) => headwater.call("POST", `/sources/${id}/runs`, { event });
const summaries = async (id: string): Promise<readonly (string | null)[]> => {
  const { body } = await headwater.call<{ data: readonly { metadata: { summary: string | null } }[] }>(
    "GET",
    `/sources/${id}/event_summaries`,
  );
  return body.data.map(({ metadata }) => metadata.summary).toReversed();
};
const untilEmitted = (id: string, wanted: readonly string[]): Promise<void> =>
  until(async () => JSON.stringify(await summaries(id)) === JSON.stringify(wanted), `it emits ${wanted.join(", ")}`);

it("emits new items of a feed, starting with the deploy hook", async () => {
  const url = `http://127.0.0.1:${(feed.address() as AddressInfo).port}`;
  const source = await deploy("headwater-rss", { url });
  await untilEmitted(source.id, ["Item 0", "Item 1"]);
  items = 3;
  await run(source.id, null);
  await untilEmitted(source.id, ["Item 0", "Item 1", "Item 2"]);
  const refused = await headwater.call("POST", "/sources", {
    key: "headwater-rss",
    configured_props: { url: `${url.replace(/\d+$/, "1")}/` },
  });
  expect([refused.status, refused.body]).toMatchObject([422, { code: "observation_error" }]);
});

it("is the same component for every source of a key", async () => {
  const [one, two] = [await deploy("headwater-schedule"), await deploy("headwater-schedule", { payload: { n: 1 } })];
  expect(two.component_id).toBe(one.component_id);
  await run(two.id, null);
  await until(async () => (await summaries(two.id)).length === 1, "the schedule emits");
});

it("accepts signed requests only", async () => {
  const source = await deploy("headwater-signed-webhook", { secret: "It's a Secret to Everybody" });
  const post = (signature: string) =>
    fetch(source.configured_props.http?.endpoint_url ?? "", {
      method: "POST",
      body: "Hello, World!",
      headers: { "content-type": "text/plain", "x-hub-signature-256": signature, "x-github-event": "push", "x-github-delivery": "1" },
    });
  const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  const statuses = [(await post(signature)).status, (await post(signature)).status, (await post(`${signature.slice(0, -1)}0`)).status];
  expect(statuses).toEqual([200, 200, 401]);
  // The second request repeats the first delivery.
  await untilEmitted(source.id, ["push"]);
});

it("parses a mail posted as multipart", async () => {
  const source = await deploy("headwater-mail");
  const form = new FormData();
  for (const [name, value] of Object.entries({ from: "Ann <ann@x.test>", to: "bob@y.test", subject: "Hi", text: "Text" }))
    form.set(name, value);
  form.set("attachment1", new File(["hi"], "a.txt", { type: "text/plain" }));
  const answered = await fetch(source.configured_props.http?.endpoint_url ?? "", { method: "POST", body: form });
  expect(answered.status).toBe(200);
  await untilEmitted(source.id, ["Hi"]);
  const { text } = await headwater.call("GET", `/sources/${source.id}/event_summaries?expand=event`);
  expect(text).toContain('"filename":"a.txt"');
});

it("treats requests as heartbeats, and emits when one is missing", async () => {
  const source = await deploy("headwater-heartbeat", { withinSeconds: 1, timer: { intervalSeconds: 1 } });
  await until(
    async () => (await summaries(source.id)).some((summary) => summary?.startsWith("Nothing for")),
    "the missing heartbeat is emitted",
  );
  await fetch(source.configured_props.http?.endpoint_url ?? "", { method: "POST", body: "beat" });
  await until(
    async () => (await summaries(source.id)).some((summary) => summary?.startsWith("Back after")),
    "the next heartbeat is emitted",
  );
});
