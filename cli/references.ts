import type { Client } from "../client/client.ts";
import { itemsOf, maxPageItems } from "../client/pages.ts";
import { notFound, usageFailure } from "./failure.ts";
import { kindNames, kindNamed, kindOfId, kinds } from "./kinds/kinds.ts";
import { nearestName } from "./nearest-name.ts";
import type { Item, Kind } from "./kinds/kind.ts";

/** Ids end with this many characters or more, unless someone chose them for a custom resource. */
const newIdLength = 12;
const maxCandidates = 5;

/** The id that a person means: an id, the unique beginning of one, or a name. @throws Failure if there is none, or more than one */
export async function idOf(client: Client, kindName: string, text: string): Promise<string> {
  const kind = kindNamed(kindName);
  const { prefix = "" } = kind;
  if (text.startsWith(`${prefix}_`) && text.length >= prefix.length + 1 + newIdLength) return text;
  const { ids: found, names } = await candidatesOf(client, kind, text);
  const [only, ...others] = found;
  if (only === undefined)
    throw notFound(`there is no ${kind.noun} "${text}"`, `${nearestHint(text, names)}\`hw list ${kind.name}\` shows all`);
  if (others.length === 0) return only;
  const named = found.slice(0, maxCandidates).join(", ");
  throw usageFailure(
    `"${text}" may be ${found.length} ${kind.name}: ${named}${found.length > maxCandidates ? ", …" : ""}`,
    "use more of the id",
  );
}

/** The beginning of a hint: the nearest one of these names, if one is near. */
function nearestHint(text: string, names: readonly string[]): string {
  const nearest = nearestName(text, names);
  return nearest === undefined ? "" : `did you mean ${nearest}? `;
}

interface Candidates {
  readonly ids: readonly string[];
  /** Of all things of the kind. */
  readonly names: readonly string[];
}

/** An exact id wins, then the first name of its kind (of a source the slug, which is unique), then other names, then the beginning of an id. */
async function candidatesOf(client: Client, kind: Kind, text: string): Promise<Candidates> {
  const all: string[] = [];
  const beginning: string[] = [];
  const named: string[] = [];
  const firstNamed: string[] = [];
  const items = itemsOf((after) => kind.list(client, { limit: maxPageItems, ...(after === undefined ? {} : { after }) }));
  for await (const item of items) {
    const id = String(item["id"]);
    const names = namesOf(kind, item);
    all.push(...names);
    if (id === text) return { ids: [id], names: all };
    if (names[0] === text) firstNamed.push(id);
    else if (names.includes(text)) named.push(id);
    if (text.startsWith(`${kind.prefix ?? ""}_`) && id.startsWith(text)) beginning.push(id);
  }
  return { ids: [firstNamed, named, beginning].find((found) => found.length > 0) ?? [], names: all };
}

function namesOf({ namesOf: read }: Kind, item: Item): readonly string[] {
  return (read?.(item) ?? []).filter((name) => typeof name === "string");
}

export interface Referred {
  readonly kind: Kind;
  readonly id: string;
}

/** A thing of one of these kinds, by id, `kind/name`, or a name that only one of them has; a component needs its kind if others have its name. */
export async function referredTo(client: Client, text: string, kindsToSearch: readonly string[] = kindNames): Promise<Referred> {
  const [before = "", after] = text.split("/", 2);
  if (after !== undefined) {
    const kind = requireKind(kindNamed(before), text, kindsToSearch);
    return { kind, id: await idOf(client, kind.name, after) };
  }
  const byPrefix = kindOfId(text);
  if (byPrefix !== undefined) {
    const kind = requireKind(byPrefix, text, kindsToSearch);
    return { kind, id: await idOf(client, kind.name, text) };
  }
  const searched = kinds.filter(
    ({ name, namesOf: read, needsKind }) => kindsToSearch.includes(name) && read !== undefined && needsKind !== true,
  );
  const candidates = await Promise.all(searched.map(async (kind) => ({ kind, ...(await candidatesOf(client, kind, text)) })));
  const preferred = deployedFirst(candidates.flatMap(({ kind, ids }) => ids.map((id) => ({ kind, id }))));
  const [only, ...others] = preferred;
  if (only === undefined) {
    const names = candidates.flatMap((each) => each.names);
    const hint = `${nearestHint(text, names)}searched were: ${searched.map(({ name }) => name).join(", ")}`;
    throw notFound(`nothing is named "${text}"`, hint);
  }
  if (others.length === 0) return only;
  const [example = only] = others;
  throw usageFailure(
    `"${text}" names ${preferred.map(({ kind, id }) => `${kind.noun} ${id}`).join(" and ")}`,
    `use the id, or name the kind: ${example.kind.noun}/${text}`,
  );
}

/** @throws Failure for another kind: its id means nothing to the operations of these kinds */
function requireKind(kind: Kind, text: string, accepted: readonly string[]): Kind {
  if (accepted.includes(kind.name)) return kind;
  const nouns = accepted.map((name) => kindNamed(name).noun);
  throw notFound(`there is no ${nouns.join(" or ")} "${text}"`, `it names a ${kind.noun}`);
}

/** A component often has the name of the source that runs it. What is deployed is meant, unless the name has its kind before it. */
function deployedFirst(found: readonly Referred[]): readonly Referred[] {
  const deployed = found.filter(({ kind }) => kind.name !== "components");
  return deployed.length === 0 ? found : deployed;
}
