import type { Client } from "../../client/client.ts";
import { itemsOf, maxPageItems } from "../../client/pages.ts";
import { kindNamed } from "../kinds/kinds.ts";

/** Channels that a webhook gets, by the id of the source or workflow. */
export type Wanted = ReadonlyMap<string, ReadonlySet<string>>;

/** What the subscriptions of a webhook name, with patterns (`dc_*`, `p_*`, an owner) as what they stand for now. */
export async function wantedBy(client: Client, webhook: string): Promise<Wanted> {
  const subscriptions = (await listed(client, "subscriptions")).filter((each) => each["listener_id"] === webhook);
  const known = new Map<string, Promise<readonly string[]>>();
  const idsOf = (kind: string): Promise<readonly string[]> => {
    const found = known.get(kind) ?? listed(client, kind).then((items) => items.map(({ id }) => String(id)));
    known.set(kind, found);
    return found;
  };
  const wanted = new Map<string, Set<string>>();
  for (const { emitter_id: emitter, event_name: channel } of subscriptions) {
    for (const id of await emittersOf(String(emitter), idsOf)) {
      const channels = wanted.get(id) ?? new Set();
      wanted.set(id, channels.add(channelOf(String(emitter), typeof channel === "string" ? channel : "")));
    }
  }
  return wanted;
}

async function emittersOf(emitter: string, idsOf: (kind: string) => Promise<readonly string[]>): Promise<readonly string[]> {
  if (emitter === "dc_*") return idsOf("sources");
  if (emitter === "p_*") return idsOf("workflows");
  // A user stands for all that they have, an organization for its workflows.
  if (emitter.startsWith("u_")) return [...(await idsOf("sources")), ...(await idsOf("workflows"))];
  if (emitter.startsWith("o_")) return idsOf("workflows");
  return /^(dc|p)_/.test(emitter) ? [emitter] : [];
}

/** Of an owner only errors and log lines are delivered: without a channel, the errors. */
const channelOf = (emitter: string, channel: string): string => (/^[uo]_/.test(emitter) && channel === "" ? "$errors" : channel);

async function listed(client: Client, kind: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { list } = kindNamed(kind);
  const items: Readonly<Record<string, unknown>>[] = [];
  for await (const item of itemsOf((after) => list(client, { limit: maxPageItems, ...(after === undefined ? {} : { after }) })))
    items.push(item);
  return items;
}
