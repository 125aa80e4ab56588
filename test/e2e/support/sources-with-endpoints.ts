import { Agent, request } from "undici";
import { startFailingEndpoint, type FailingEndpoint } from "./failing-endpoint.ts";
import type { Client } from "../../support/system/client.ts";
import { create, deploy, subscribe } from "../../support/system/sources.ts";

/** Counts its runs in the db, and emits the requested number of events, each with the count and the request. */
const counter = `
export default {
  name: "Counter",
  dedupe: "unique",
  props: { http: "$.interface.http", db: "$.service.db" },
  async run({ body }) {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n, request: body.request, ballast: body.ballast }, { id: body.request });
    for (let more = 1; more < (body.events ?? 1); more++) this.$emit({ n, request: body.request + "+" + more }, { id: body.request + "+" + more });
  },
};`;

/** Emits each event again. */
export const relay = `
export default {
  name: "Relay",
  dedupe: "unique",
  async run({ n, request }) {
    this.$emit({ n, request }, { id: request });
  },
};`;

export interface Emitted {
  readonly n: number;
  readonly request: string;
}

/** A source, the webhook that listens to it, and the test's records of both. */
export interface Pair {
  readonly source: string;
  /** The source that the webhook listens to: the source itself, or the one in between. */
  readonly heardSource: string;
  readonly endpointUrl: string;
  readonly webhook: string;
  readonly endpoint: FailingEndpoint;
  /** Requests with a 2xx response. */
  readonly accepted: Set<string>;
  readonly sent: Set<string>;
}

/** @param through code of a source between the first one and the webhook @param fields further fields of the webhook */
export async function createPair(cluster: Pick<Client, "call">, through?: string, fields: object = {}): Promise<Pair> {
  const endpoint = await startFailingEndpoint();
  const source = await deploy(cluster, counter);
  const webhook = await create(cluster, "/webhooks", { url: endpoint.url, ...fields });
  const between = through === undefined ? undefined : await deploy(cluster, through);
  if (between !== undefined) await subscribe(cluster, source.id, between.id);
  const heardSource = between?.id ?? source.id;
  await subscribe(cluster, heardSource, webhook.id);
  return {
    source: source.id,
    heardSource,
    endpointUrl: source.endpoint,
    webhook: webhook.id,
    endpoint,
    accepted: new Set(),
    sent: new Set(),
  };
}

/** Adds a source for the pair's webhook. */
export async function addSource(cluster: Pick<Client, "call">, pair: Pair): Promise<Pair> {
  const source = await deploy(cluster, counter);
  await subscribe(cluster, source.id, pair.webhook);
  return { ...pair, source: source.id, heardSource: source.id, endpointUrl: source.endpoint, accepted: new Set(), sent: new Set() };
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** Shared by the files of a worker: each closes its connections, and the next one opens new ones. */
let agent = new Agent({ connections: 16 });
export async function closeAgent(): Promise<void> {
  const closed = agent.close();
  agent = new Agent({ connections: 16 });
  await closed;
}

/** Sends one request. It must run after a 2xx response, whatever happens afterwards. Without a response (undefined) it may run or not. */
export async function send(pair: Pair, name: string, more: object = {}, timeoutMs = 15_000): Promise<Answer | undefined> {
  pair.sent.add(name);
  try {
    const { statusCode, headers, body } = await request(pair.endpointUrl, {
      dispatcher: agent,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ request: name, ...more }),
      headersTimeout: timeoutMs,
    });
    const text = await body.text();
    if (statusCode >= 200 && statusCode < 300) pair.accepted.add(name);
    const retryAfter = headers["retry-after"];
    return { status: statusCode, retryAfter: typeof retryAfter === "string" ? retryAfter : undefined, text };
  } catch {
    return undefined;
  }
}

/** The whole history of a source, newest first. */
export async function eventsOf(cluster: Pick<Client, "call">, source: string): Promise<readonly Emitted[]> {
  const events: Emitted[] = [];
  for (let after = ""; ;) {
    const { status, text, body } = await cluster.call<{ page_info: { end_cursor: string }; data: { event: Emitted }[] }>(
      "GET",
      `/sources/${source}/event_summaries?limit=100&expand=event${after}`,
    );
    if (status !== 200) throw new Error(`event_summaries answers ${status} ${text}`);
    events.push(...body.data.map(({ event }) => event));
    if (body.data.length < 100) return events;
    after = `&after=${body.page_info.end_cursor}`;
  }
}

/** Requests whose event the endpoint has accepted. */
export const taken = ({ endpoint }: Pair): ReadonlySet<string> =>
  new Set(endpoint.heard.filter(({ status }) => status === 200).map((one) => one.request));

/** The delivery ids of each request; repeated attempts have one id. */
export function idsHeard({ endpoint }: Pair): ReadonlyMap<string, ReadonlySet<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { request: name, id } of endpoint.heard) ids.set(name, (ids.get(name) ?? new Set()).add(id));
  return ids;
}
