import { sql, type RawBuilder } from "kysely";
import type { Kind, Resource } from "../../crds/resource.ts";
import type { PageRequest } from "../../domain/page.ts";
import { batched } from "./batched.ts";
import type { Database } from "./connection.ts";
import { placeOf } from "./resources/place.ts";
import { selects } from "./resources/reads.ts";
import { columns, resourceFrom, type ResourceRow } from "./resources/row.ts";
import type { SourceSelection } from "./resources/source-selection.ts";

export interface ResourceSelection {
  /** One namespace per owner; undefined is all of them. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Only those without this label. */
  readonly withoutLabel?: string;
  /** Only those in whose spec this text occurs somewhere; it is looked for in all that the rest selects. */
  readonly mentions?: string;
  /** Only those with this `status.nameSlug`. */
  readonly slug?: string;
  /** Of the kind Source. */
  readonly sources?: SourceSelection;
}

export interface ResourcePage<S, T> {
  readonly items: readonly Resource<S, T>[];
  readonly total: number;
}

/** What REST lists and look-ups read, whether resources live in Postgres or are mirrored there. In a cluster it lags a moment. */
export interface ResourcePages {
  /** Newest first; cursors are public ids (label `headwater.dev/id`). @throws InvalidInput for a cursor that is not in the list */
  listPage<S, T>(kind: Kind<S, T>, selection: ResourceSelection, page: PageRequest): Promise<ResourcePage<S, T>>;
  /** The newest that matches: a component by its key or the hash of its code. */
  findNewest<S, T>(kind: Kind<S, T>, selection: ResourceSelection): Promise<Resource<S, T> | undefined>;
  findById<S, T>(kind: Kind<S, T>, id: string): Promise<Resource<S, T> | undefined>;
  /** Of `base`, `base-2`, `base-3`, … those that resources of the namespace have as `status.nameSlug`. */
  takenSlugs(kind: Kind, namespace: string, base: string): Promise<readonly string[]>;
}

export function createResourcePages({ db }: Pick<Database, "db">): ResourcePages {
  const finders = new Map<string, (id: string) => Promise<ResourceRow | undefined>>();

  /** By their public ids; of those with the same, the oldest. */
  function byId(kind: string): (id: string) => Promise<ResourceRow | undefined> {
    const known = finders.get(kind);
    if (known !== undefined) return known;
    const find = batched(async (ids) => {
      const { rows } = await sql<ResourceRow & { public_id: string }>`
        select distinct on (public_id) public_id, ${columns} from resources
        where kind = ${kind} and public_id = any(${ids}::text[]) and ended_at is null order by public_id, created_version`.execute(db);
      return new Map(rows.map((row) => [row.public_id, row]));
    });
    finders.set(kind, find);
    return find;
  }

  return {
    async listPage<S, T>(kind: Kind<S, T>, selection: ResourceSelection, { limit, cursor }: PageRequest) {
      const backwards = cursor?.side === "before";
      const place = cursor === null ? undefined : await placeOf(db, kind.kind, cursor.id, selection.namespace);
      const beyond =
        place === undefined
          ? sql`true`
          : sql`(created_at, name) ${backwards ? sql`>` : sql`<`} (${place.created_at}::timestamptz, ${place.name}::text)`;
      const matches = matching(kind.kind, selection);
      const { rows } = await sql<ResourceRow & { kind: string | null; total: number }>`
        select counted.total, page.* from (${isWhole(selection) ? keptTotal(kind.kind, selection.namespace) : sql`select count(*) as total from resources where ${matches}`}) counted left join (
          select ${columns} from resources where ${matches} and ${beyond}
          order by ${backwards ? sql`created_at, name` : sql`created_at desc, name desc`} limit ${limit}
        ) page on true
        order by page.created_at desc, page.name desc`.execute(db);
      return {
        items: rows.filter((row) => row.kind !== null).map((row) => resourceFrom<S, T>(row)),
        total: rows[0]?.total ?? 0,
      };
    },
    async findNewest(kind, selection) {
      const { rows } = await sql<ResourceRow>`
        select ${columns} from resources where ${matching(kind.kind, selection)} order by created_at desc, name desc limit 1`.execute(db);
      return rows[0] === undefined ? undefined : resourceFrom(rows[0]);
    },
    async findById(kind, id) {
      const row = await byId(kind.kind)(id);
      return row === undefined ? undefined : resourceFrom(row);
    },
    async takenSlugs(kind, namespace, base) {
      const numbered = `${base.replaceAll(/[\\%_]/g, "\\$&")}-%`;
      const { rows } = await sql<{ slug: string }>`
        select name_slug as slug from resources
        where kind = ${kind.kind} and namespace = ${namespace} and (name_slug = ${base} or name_slug like ${numbered}) and ended_at is null`.execute(
        db,
      );
      return rows.map(({ slug }) => slug).filter((slug) => slug === base || /^-\d+$/.test(slug.slice(base.length)));
    },
  };
}

function matching(kind: string, selection: ResourceSelection): RawBuilder<unknown> {
  return sql`kind = ${kind} and ended_at is null and ${selects(selection)}`;
}

/** All that a namespace has of a kind: counted when it was written. */
function isWhole({ namespace, labels = {}, withoutLabel, mentions, slug, sources = {} }: ResourceSelection): boolean {
  const picks = [withoutLabel, mentions, slug, ...Object.values(labels), ...Object.values(sources)].some((each) => each !== undefined);
  return namespace !== undefined && !picks;
}

function keptTotal(kind: string, namespace: string | undefined): RawBuilder<unknown> {
  return sql`select coalesce((select n from resource_counts where kind = ${kind} and namespace = ${namespace}), 0) as total`;
}
