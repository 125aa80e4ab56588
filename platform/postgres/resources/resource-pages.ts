import { sql, type RawBuilder } from "kysely";
import { resourceWithId } from "../../../crds/public-id.ts";
import type { Kind, Resource } from "../../../crds/resource.ts";
import type { PageRequest } from "../../../domain/page.ts";
import { batched } from "../batched.ts";
import { boundedRows, leftBehind } from "../bounded-rows.ts";
import type { Database } from "../connection.ts";
import { pageOrder, type SortedRow } from "./list-order.ts";
import type { ListedSelection } from "./list-selection.ts";
import { labelledWith, selects } from "./reads.ts";
import { columns, resourceFrom, type ResourceRow } from "./row.ts";
import type { SourceSelection } from "./source-selection.ts";

export interface ResourceSelection {
  /** One namespace per owner; undefined: all. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Only those without this label. */
  readonly withoutLabel?: string;
  /** Only those whose spec contains this text; searched after the other conditions. */
  readonly mentions?: string;
  /** Only those with this `status.nameSlug`. */
  readonly slug?: string;
  /** Conditions for the kind Source. */
  readonly sources?: SourceSelection;
  /** Conditions for the kinds Webhook and Workflow. */
  readonly listed?: ListedSelection;
}

/** `kind` is null if the page has no rows. */
type PageRow = ResourceRow & SortedRow & { readonly kind: string | null; readonly total: number; readonly rows_left: number | null };

export interface ResourcePage<S, T> {
  readonly items: readonly Resource<S, T>[];
  readonly total: number;
  /** Number of items of the page that did not fit into its bytes. */
  readonly left?: number;
  /** Of each item, if cursors of the list are positions instead of ids. */
  readonly positions?: readonly string[];
}

/** Reads for REST lists and lookups, whether resources are stored in Postgres or mirrored there. The mirror may lag slightly. */
export interface ResourcePages {
  /** Newest first, or in the order of the page; cursors are public ids (label `headwater.dev/id`), or positions. @throws InvalidInput for a cursor that is not in the list */
  listPage<S, T>(kind: Kind<S, T>, selection: ResourceSelection, page: PageRequest): Promise<ResourcePage<S, T>>;
  /** The newest match, such as a component by its key or code hash. */
  findNewest<S, T>(kind: Kind<S, T>, selection: ResourceSelection): Promise<Resource<S, T> | undefined>;
  findById<S, T>(kind: Kind<S, T>, id: string): Promise<Resource<S, T> | undefined>;
}

export function createResourcePages({ db }: Pick<Database, "db">): ResourcePages {
  const finders = new Map<string, (id: string) => Promise<readonly ResourceRow[] | undefined>>();

  /** By the id in the label. */
  function byId(kind: string): (id: string) => Promise<readonly ResourceRow[] | undefined> {
    const known = finders.get(kind);
    if (known !== undefined) return known;
    const find = batched(async (ids) => {
      const { rows } = await sql<ResourceRow & { public_id: string }>`
        select asked.id as public_id, found.* from unnest(${ids}::text[]) as asked (id)
        cross join lateral (${labelledWith(kind, sql`asked.id`)}) found`.execute(db);
      return Map.groupBy(rows, ({ public_id }) => public_id);
    });
    finders.set(kind, find);
    return find;
  }

  return {
    async listPage<S, T>(kind: Kind<S, T>, selection: ResourceSelection, page: PageRequest) {
      const { beyond, reading, listed, columns: sorted, positionOf } = await pageOrder(db, kind.kind, selection.namespace, page);
      const matches = matching(kind.kind, selection);
      const found = sql`select ${columns}, ${sorted} from resources where ${matches} and ${beyond} order by ${reading} limit ${page.limit}`;
      const bytes = sql`octet_length(page.spec::text) + octet_length(page.status::text)`;
      const { rows } = await sql<PageRow>`
        select counted.total, page.* from (${isWhole(selection) ? storedTotal(kind.kind, selection.namespace) : sql`select count(*) as total from resources where ${matches}`}) counted left join (
          select * from ${boundedRows({ rows: found, bytes, order: listed, maxBytes: page.maxBytes })} bounded
        ) page on true
        order by ${listed}`.execute(db);
      const items = rows.filter((row) => row.kind !== null);
      return {
        items: items.map((row) => resourceFrom<S, T>(row)),
        total: rows[0]?.total ?? 0,
        ...leftBehind(rows),
        ...(positionOf === undefined ? {} : { positions: items.map(positionOf) }),
      };
    },
    async findNewest(kind, selection) {
      const { rows } = await sql<ResourceRow>`
        select ${columns} from resources where ${matching(kind.kind, selection)} order by created_at desc, name desc limit 1`.execute(db);
      return rows[0] === undefined ? undefined : resourceFrom(rows[0]);
    },
    async findById<S, T>(kind: Kind<S, T>, id: string) {
      const rows = (await byId(kind.kind)(id)) ?? [];
      return resourceWithId(
        id,
        rows.map((row) => resourceFrom<S, T>(row)),
      );
    },
  };
}

function matching(kind: string, selection: ResourceSelection): RawBuilder<unknown> {
  return sql`kind = ${kind} and ended_at is null and ${selects(selection)}`;
}

/** Is it an unfiltered list of a namespace? Its total is precomputed. */
function isWhole({ namespace, labels = {}, withoutLabel, mentions, slug, sources = {}, listed = {} }: ResourceSelection): boolean {
  const picks = [withoutLabel, mentions, slug, ...Object.values(labels), ...Object.values(sources), ...Object.values(listed)].some(
    (each) => each !== undefined,
  );
  return namespace !== undefined && !picks;
}

function storedTotal(kind: string, namespace: string | undefined): RawBuilder<unknown> {
  return sql`select coalesce((select n from resource_counts where kind = ${kind} and namespace = ${namespace}), 0) as total`;
}
