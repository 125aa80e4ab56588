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
      wanted.set(id, channels.add(typeof channel === "string" ? channel : ""));
    }
  }
  return wanted;
}

async function emittersOf(emitter: string, idsOf: (kind: string) => Promise<readonly string[]>): Promise<readonly string[]> {
  if (emitter === "dc_*") return idsOf("sources");
  if (emitter === "p_*") return idsOf("workflows");
  // An owner stands for all that it has.
  if (/^[uo]_/.test(emitter)) return [...(await idsOf("sources")), ...(await idsOf("workflows"))];
  return /^(dc|p)_/.test(emitter) ? [emitter] : [];
}

async function listed(client: Client, kind: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { list } = kindNamed(kind);
  const items: Readonly<Record<string, unknown>>[] = [];
  for await (const item of itemsOf((after) => list(client, { limit: maxPageItems, ...(after === undefined ? {} : { after }) })))
    items.push(item);
  return items;
}
