import { expect } from "vitest";
import { z } from "zod";
import { until } from "../support/until.ts";
import { askProbe, call, deploy, owned, probeAddress, type Endpoint } from "./installation.ts";
import { kubectl } from "./kubectl.ts";

/** Counts its runs in the db, and says which request each count belongs to. */
const counter = `
export default {
  name: "Counter",
  dedupe: "unique",
  props: { http: "$.interface.http", db: "$.service.db" },
  async run({ body }) {
    if (body?.request === undefined) return;
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n, request: body.request }, { id: body.request });
  },
};`;

const stoppedSchema = z.object({
  sources: z.array(z.object({ id: z.string(), accepted: z.array(z.string()) })),
  sent: z.number(),
  refused: z.record(z.string(), z.number()),
  slowestMs: z.number(),
  /** Longest time between two deliveries of each source. */
  pausesMs: z.array(z.number()),
});
export type Stopped = z.infer<typeof stoppedSchema>;
/** What the same sources had accepted before, added to what was accepted now. */
export const withEarlier = (stopped: Stopped, earlier: Stopped): Stopped => ({
  ...stopped,
  sources: stopped.sources.map(({ id, accepted }) => ({
    id,
    accepted: [...(earlier.sources.find((one) => one.id === id)?.accepted ?? []), ...accepted],
  })),
});

const progressSchema = z.object({ sent: z.number(), accepted: z.number() });
const receivedSchema = z.object({ requests: z.array(z.string()), repeated: z.array(z.unknown()) });

/** Sources that count, each with the probe's webhook as listener, all by kubectl. */
export async function countingSources(prefix: string, count: number): Promise<readonly Endpoint[]> {
  const address = await probeAddress();
  const sources: Endpoint[] = [];
  for (let n = 0; n < count; n++) {
    const name = `${prefix}-${n}`;
    sources.push(await deploy(name, counter));
    const common = { apiVersion: "headwater.dev/v1alpha1", metadata: { name, namespace: owned } };
    const webhook = { ...common, kind: "Webhook", spec: { url: `http://${address}/events` } };
    const subscription = {
      ...common,
      kind: "Subscription",
      spec: { emitterRef: { kind: "Source", name }, listenerRef: { kind: "Webhook", name } },
    };
    await kubectl(["apply", "-f", "-"], `${JSON.stringify(webhook)}\n---\n${JSON.stringify(subscription)}`);
    await kubectl(["-n", owned, "wait", "--for=condition=Ready", `subscription/${name}`, "--timeout=60s"]);
  }
  return sources;
}

/** Requests at a steady rate, from within the cluster, until it is stopped. */
export async function startLoad(sources: readonly Endpoint[], perSecond: number) {
  await askProbe("/load", { sources: sources.map(({ id, endpoint }) => ({ id, endpoint })), perSecond });
  const progress = async () => progressSchema.parse(await askProbe("/load"));
  return {
    progress,
    /** Waits until so many more were answered well: so long it works again. */
    more: async (accepted: number): Promise<void> => {
      const from = (await progress()).accepted;
      await until(async () => (await progress()).accepted >= from + accepted, `${accepted} more requests are accepted`);
    },
    stop: async (): Promise<Stopped> => stoppedSchema.parse(await askProbe("/stop", {})),
  };
}

const pageSchema = z.object({
  page_info: z.object({ end_cursor: z.string().nullable() }),
  data: z.array(z.object({ event: z.object({ n: z.number(), request: z.string() }) })),
});
type Counted = z.infer<typeof pageSchema>["data"][number]["event"];

/** Undefined: the API cannot be reached just now. */
async function eventsOf(id: string): Promise<readonly Counted[] | undefined> {
  const events: Counted[] = [];
  for (let after = ""; ;) {
    const { status, text } = await call("GET", `/sources/${id}/event_summaries?limit=100&expand=event${after}`);
    if (status === 0 || status >= 502) return undefined;
    if (status !== 200) throw new Error(`event_summaries answers ${status} ${text}`);
    const page = pageSchema.parse(JSON.parse(text));
    events.push(...page.data.map(({ event }) => event));
    if (page.data.length < 100) return events;
    after = `&after=${page.page_info.end_cursor}`;
  }
}

/** What was accepted ran once, is kept once, was counted once without a gap, and reached its webhook under one id. */
export async function expectNothingLost({ sources }: Stopped): Promise<void> {
  for (const { id, accepted } of sources) {
    let events: readonly Counted[] = [];
    let missing: readonly string[] = [];
    const isThere = async (): Promise<boolean> => {
      const found = await eventsOf(id);
      if (found === undefined) return false;
      events = found;
      const kept = new Set(events.map(({ request }) => request));
      missing = accepted.filter((one) => !kept.has(one));
      return missing.length === 0;
    };
    await until(isThere, `each accepted request of ${id} has its event`, {
      more: () => `${missing.length} of ${accepted.length} have none`,
    });
    expect(new Set(events.map(({ request }) => request)).size, "each request has one event").toBe(events.length);
    expect(
      events.map(({ n }) => n).toSorted((a, b) => a - b),
      "each run was counted once",
    ).toEqual(events.map((_, index) => index + 1));
    const wanted = events.map(({ request }) => request);
    let heard = new Set<string>();
    const isHeard = async (): Promise<boolean> => {
      heard = new Set(receivedSchema.parse(await askProbe("/received")).requests);
      return wanted.every((one) => heard.has(one));
    };
    const silent = (): string => `${wanted.filter((one) => !heard.has(one)).length} of ${wanted.length} were not heard`;
    await until(isHeard, `the webhook hears of each event of ${id}`, { more: silent });
  }
  expect(receivedSchema.parse(await askProbe("/received")).repeated, "a repeated delivery has the same id").toEqual([]);
}
