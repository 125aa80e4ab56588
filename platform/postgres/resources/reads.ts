import { sql, type Kysely, type RawBuilder } from "kysely";
import { z } from "zod";
import type { ListOptions } from "../../../crds/resource-store.ts";
import { labels as known } from "../../../crds/resource.ts";
import { InvalidInput } from "../../../domain/errors.ts";
import type { Tables } from "../tables.ts";
import { selectsListed, type ListedSelection } from "./list-selection.ts";
import { columns, type ResourceRow } from "./row.ts";
import { selectsSources, type SourceSelection } from "./source-selection.ts";
import type { Key } from "./writes.ts";

/** Labels with a column and index of their own. */
const labelColumns: Readonly<Record<string, string>> = {
  [known.id]: "public_id",
  [known.owner]: "owner",
  [known.codeHash]: "code_hash",
  [known.componentKey]: "component_key",
};

export async function findRow(db: Kysely<Tables>, key: Key): Promise<ResourceRow | undefined> {
  const { rows } = await sql<ResourceRow>`
    select ${columns} from resources where kind = ${key.kind} and namespace = ${key.namespace} and name = ${key.name}`.execute(db);
  return rows[0];
}

/**
 * Resources whose label has the id, for `resourceWithId`: first the one whose status has it, then new ones. Two show whether there are
 * several.
 *
 * @param asked SQL of the id
 */
export const labelledWith = (kind: string, asked: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select ${columns} from resources cross join lateral (select readable_json(status) ->> 'id' as assigned) known
  where kind = ${kind} and public_id = ${asked} and ended_at is null
  order by case when assigned = ${asked} then 0 when assigned is null then 1 else 2 end, created_version limit 2`;

export async function findRowsById(db: Kysely<Tables>, kind: string, id: string): Promise<readonly ResourceRow[]> {
  return (await sql<ResourceRow>`${labelledWith(kind, sql`${id}::text`)}`.execute(db)).rows;
}

export interface ListedRows {
  readonly rows: readonly ResourceRow[];
  readonly version: number;
  readonly next?: string;
}

const defaultLimit = 1_000;

/** Newest first. All pages have the version of the first: a watch from there reports changes made while later pages were read. */
export async function listRows(db: Kysely<Tables>, kind: string, options: ListOptions): Promise<ListedRows> {
  const limit = options.limit ?? defaultLimit;
  if (!Number.isInteger(limit) || limit < 1 || limit > defaultLimit)
    throw new InvalidInput(`limit ${limit} is invalid: must be an integer from 1 to ${defaultLimit}`);
  const from = options.continue === undefined ? undefined : parseContinue(options.continue);
  const { rows } = await sql<ResourceRow & { head: number; kind: string | null }>`
    select head.version as head, page.* from resource_head head left join (
      select ${columns} from resources
      where kind = ${kind} and ${selects(options)} and ${from === undefined ? sql`true` : sql`created_version < ${from.before}`}
      order by created_version desc limit ${limit + 1}
    ) page on true
    order by page.created_version desc`.execute(db);
  const version = from?.version ?? rows[0]?.head ?? 0;
  const found = rows.filter((row) => row.kind !== null);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (found.length <= limit || last === undefined) return { rows: page, version };
  return {
    rows: page,
    version,
    next: Buffer.from(JSON.stringify([version, last.created_version])).toString("base64url"),
  };
}

/** Resources owned only by this one, which are deleted with it. */
export async function ownedKeys(db: Kysely<Tables>, { namespace, uid }: { namespace: string; uid: string }): Promise<readonly Key[]> {
  const { rows } = await sql<Key>`
    select kind, namespace, name from resources owned
    where owner_references @> ${JSON.stringify([{ uid }])}::jsonb and (namespace = ${namespace} or ${namespace} = '')
      and not exists (
        select 1 from jsonb_array_elements(owned.owner_references) reference join resources other
          on other.kind = reference ->> 'kind' and other.name = reference ->> 'name' and other.namespace in (owned.namespace, '')
        where other.uid::text = reference ->> 'uid' and other.uid::text <> ${uid}
      )`.execute(db);
  return rows;
}

export function selects(
  options: Pick<ListOptions, "namespace" | "labels"> & {
    readonly withoutLabel?: string;
    readonly mentions?: string;
    readonly slug?: string;
    readonly sources?: SourceSelection;
    readonly listed?: ListedSelection;
  },
): RawBuilder<unknown> {
  const conditions = [
    ...(options.namespace === undefined ? [] : [sql`namespace = ${options.namespace}`]),
    ...Object.entries(options.labels ?? {}).map(([label, value]) => {
      const column = labelColumns[label];
      return column === undefined ? sql`labels @> ${JSON.stringify({ [label]: value })}::jsonb` : sql`${sql.ref(column)} = ${value}`;
    }),
    ...(options.withoutLabel === undefined ? [] : [sql`not labels ? ${options.withoutLabel}`]),
    ...(options.mentions === undefined
      ? []
      : [sql`(position(${options.mentions} in spec::text) > 0 or position(${options.mentions} in status::text) > 0)`]),
    ...(options.slug === undefined ? [] : [sql`name_slug = ${options.slug}`]),
    ...selectsSources(options.sources ?? {}, options.namespace),
    ...selectsListed(options.listed ?? {}),
  ];
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

const continueToken = z.tuple([z.int(), z.int()]);

function parseContinue(text: string): { version: number; before: number } {
  try {
    const [version, before] = continueToken.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
    return { version, before };
  } catch (cause) {
    throw new InvalidInput(`continue '${text}' is invalid: must be the 'continue' of a previous page`, { cause });
  }
}
