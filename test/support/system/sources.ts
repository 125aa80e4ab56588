import type { Client } from "./client.ts";

/** A source, and its endpoint if it has one. */
export interface Source {
  readonly id: string;
  readonly endpoint: string;
}
/** One user of a system; each call is checked. */
type Caller = Pick<Client, "call">;

/** Creates a resource. @throws for an error response */
export async function create<More = object>(client: Caller, path: string, body: object): Promise<{ readonly id: string } & More> {
  const { status, text, body: answer } = await client.call<{ readonly data: { readonly id: string } & More }>("POST", path, body);
  if (status !== 200) throw new Error(`POST ${path} returned ${status}: ${text}`);
  return answer.data;
}

/** @param more further fields of the request, such as its name */
export async function deploy(client: Caller, code: string, props: object = {}, more: object = {}): Promise<Source> {
  interface Created {
    readonly configured_props: { readonly http?: { readonly endpoint_url: string } };
  }
  const body = { component_code: code, configured_props: props, ...more };
  const { id, configured_props } = await create<Created>(client, "/sources", body);
  return { id, endpoint: configured_props.http?.endpoint_url ?? "" };
}

/** @param channel default: the default channel */
export async function subscribe(client: Caller, emitter_id: string, listener_id: string, channel?: string): Promise<void> {
  await create(client, "/subscriptions", { emitter_id, listener_id, ...(channel === undefined ? {} : { event_name: channel }) });
}

export const createWebhook = async (client: Caller, url: string): Promise<string> => (await create(client, "/webhooks", { url })).id;

export const postJson = (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
