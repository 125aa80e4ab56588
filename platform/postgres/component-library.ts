import { sql, type RawBuilder } from "kysely";
import type { ComponentLibrary, ComponentQuery, ListedComponent } from "../../api/resources/library/ports.ts";
import { componentKind, type ComponentSpec, type ComponentStatus } from "../../crds/component.ts";
import { labels } from "../../crds/resource.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { idOfResourceName } from "../../domain/ids.ts";
import type { Database } from "./connection.ts";
import { listPositionOf } from "./resources/place.ts";
import { columns, resourceFrom, type ResourceRow } from "./resources/row.ts";

interface ListedRow {
  readonly public_id: string | null;
  readonly name: string;
  readonly created_at: Date;
  /** Written by resources/listed-component.ts from a valid status. */
  readonly component: { readonly definition: ComponentDefinition; readonly codeHash: string; readonly updatedAt: number | null };
}

const built = sql`kind = ${componentKind.kind} and component is not null and ended_at is null and deletion_timestamp is null`;

/**
 * A search reads its texts, since words may be anywhere in names and descriptions: this bounds it to the newest components of each owner.
 */
const defaultMaxSearched = 2_000;

/** Reads the column `component` only: a component's code may be a mebibyte, and lists do not need it. */
export function createComponentLibrary(
  { db }: Pick<Database, "db">,
  { maxSearched = defaultMaxSearched }: { readonly maxSearched?: number } = {},
): ComponentLibrary {
  return {
    async listPage({ namespace, keyLabel }, { limit, cursor }) {
      const backwards = cursor?.side === "before";
      const cursorRow = cursor === null ? undefined : await listPositionOf(db, componentKind.kind, cursor.id, namespace);
      const beyond =
        cursorRow === undefined
          ? sql`true`
          : sql`(created_at, name) ${backwards ? sql`>` : sql`<`} (${cursorRow.created_at}::timestamptz, ${cursorRow.name}::text)`;
      const matches = sql`${built} and namespace = ${namespace} and ${keyLabel === undefined ? sql`true` : sql`component_key = ${keyLabel}`}`;
      const { rows } = await sql<{ total: number } & (ListedRow | { component: null })>`
        select counted.total, page.* from (select count(*) as total from resources where ${matches}) counted left join (
          select public_id, name, created_at, component from resources where ${matches} and ${beyond}
          order by ${backwards ? sql`created_at, name` : sql`created_at desc, name desc`} limit ${limit}
        ) page on true
        order by page.created_at desc, page.name desc`.execute(db);
      return { items: rows.flatMap((row) => (row.component === null ? [] : [componentFrom(row)])), total: rows[0]?.total ?? 0 };
    },
    async search(query) {
      const { rows } = await sql<{ total: number; n: number | null; is_published: boolean } & (ListedRow | { component: null })>`
        with ${candidates(query, maxSearched)}, ${ranked(query)}
        select public_id, name, created_at, component, n, is_published, count(*) over () as total from found order by share desc, weight desc, n nulls first, created_at desc, name limit ${query.limit}`.execute(
        db,
      );
      const items = rows.flatMap((row) => {
        const published = row.n === null ? undefined : query.published[row.n];
        if (published !== undefined) return [published];
        return row.component === null ? [] : [{ ...componentFrom(row), isPublished: row.is_published }];
      });
      return { items, total: rows[0]?.total ?? 0 };
    },
    async findNamed(namespace, names) {
      if (names.length === 0) return new Map();
      const { rows } = await sql<Pick<ListedRow, "public_id" | "name"> & { component: ListedRow["component"] | null }>`
        select public_id, name, component from resources
        where kind = ${componentKind.kind} and namespace = ${namespace} and name = any(${names}::text[]) and ended_at is null`.execute(db);
      return new Map(rows.map((row) => [row.name, { id: idOf(row), definition: row.component?.definition }]));
    },
    async findVersion(namespace, keyLabel, version) {
      const { rows } = await sql<ResourceRow>`
        select ${columns} from resources
        where ${built} and namespace = ${namespace} and component_key = ${keyLabel} and component #>> '{definition,version}' = ${version}
        order by created_at desc, name desc limit 1`.execute(db);
      return rows[0] === undefined ? undefined : resourceFrom<ComponentSpec, ComponentStatus>(rows[0]);
    },
  };
}

const idOf = ({ public_id, name }: Pick<ListedRow, "public_id" | "name">): string => public_id ?? idOfResourceName(name) ?? name;

function componentFrom(row: ListedRow): ListedComponent {
  const { created_at, component } = row;
  const { definition, codeHash, updatedAt } = component;
  const createdAtMs = created_at.getTime();
  return {
    id: idOf(row),
    definition,
    codeHash,
    createdAtMs,
    updatedAtMs: updatedAt ?? createdAtMs,
    isPublished: false,
  };
}

/**
 * The newest component of each key: those of the namespaces, and those of the registry without one there. `n` is the index among those
 * that come with Headwater; the others of the registry are published versions.
 */
function candidates({ namespaces, published }: ComponentQuery, maxSearched: number): RawBuilder<unknown> {
  const definitions = JSON.stringify(published.map(({ definition }) => definition));
  return sql`own as (
      select distinct on (coalesce(component_key, name)) public_id, name, created_at, component, null::bigint as n, false as is_published
      from unnest(${namespaces}::text[]) as searched (of) cross join lateral (
        select public_id, name, namespace, component_key, created_at, component
        from resources where ${built} and namespace = searched.of and not labels ? ${labels.registry}
        order by created_at desc, name desc limit ${maxSearched}
      ) newest
      order by coalesce(component_key, name), array_position(${namespaces}::text[], namespace), created_at desc, name desc
    ),
    candidates as (
      select *, component -> 'definition' as definition from own
      union all
      select null, '', now(), null, n - 1, true, definition from jsonb_array_elements(${definitions}::jsonb) with ordinality as given (definition, n)
      where not exists (select 1 from own where component #> '{definition,key}' = definition -> 'key')
      union all
      select id, key, to_timestamp(published_ms / 1000.0), component, null, true, component -> 'definition' from publications
      where is_current and deprecated is null
        and not exists (select 1 from own where own.component #> '{definition,key}' = publications.component #> '{definition,key}')
    )`;
}

/**
 * A word's weight is that of its best occurrence; `similarity` is the share of words that must occur. Words start after a space, so that
 * `git` ranks "GitHub" before "Digital". Separators in keys count as spaces.
 */
function ranked({ words, similarity, app, type, keyed = false }: ComponentQuery): RawBuilder<unknown> {
  const spaced = (text: RawBuilder<unknown>): RawBuilder<unknown> => sql`' ' || translate(lower(coalesce(${text}, '')), '-_./:', '     ')`;
  const phrase = words.join(" ");
  const conditions = [
    sql`share >= ${similarity}`,
    ...(type === undefined ? [] : [sql`definition ->> 'type' = ${type}`]),
    ...(keyed ? [sql`key <> ''`] : []),
    ...(app === undefined ? [] : [sql`definition -> 'props' @> ${JSON.stringify([{ type: "app", app }])}::jsonb`]),
  ];
  return sql`texts as materialized (
      select *, ${spaced(sql`definition ->> 'name'`)} as title, lower(coalesce(definition ->> 'key', '')) as key,
        ${spaced(sql`definition ->> 'description'`)} as about,
        ${spaced(sql`(select string_agg(prop ->> 'app', ' ') from jsonb_array_elements(definition -> 'props') prop where prop ->> 'type' = 'app')`)} as apps
      from candidates
    ),
    found as (
      select texts.*, score.share, score.weight + case when key = ${phrase} or title = ${` ${phrase}`} then 200 else 0 end as weight
      from texts cross join lateral (
        select coalesce(avg((weight > 0)::int), 1) as share, coalesce(sum(weight), 0) as weight from (
          select case
            when key = word then 100
            when position(' ' || plain in title) > 0 then 40
            when position(' ' || plain in ${spaced(sql`key`)}) > 0 then 30
            when position(' ' || plain in apps) > 0 then 30
            when position(plain in title) > 0 then 20
            when position(word in key) > 0 or position(plain in apps) > 0 then 10
            when position(' ' || plain in about) > 0 then 5
            when position(plain in about) > 0 then 2
            else 0 end as weight
          from unnest(${words}::text[]) as given (word) cross join lateral (select translate(word, '-_./:', '     ') as plain) spaced
        ) weights
      ) score
      where ${sql.join(conditions, sql` and `)}
    )`;
}
