import { sql } from "kysely";
import { canonicalJson } from "../../../domain/canonical-json.ts";
import type { Database } from "../connection.ts";
import { columns, type ResourceRow } from "./row.ts";
import { resourceChannel } from "./writes.ts";

/** Sealed anew; undefined when it is as it should be. */
export type Reseal = (sealed: string) => Promise<string | undefined>;

export interface Resealed {
  /** Resources that were written. */
  readonly resources: number;
  /** Resources that hold a text which no key of ours opens, as `<kind> <namespace>/<name>`. */
  readonly unreadable: readonly string[];
}

/** Fields whose texts are sealed: see crds/secret-reference.ts, and the status of an Account. */
const sealedFields: ReadonlySet<string> = new Set(["sealed", "grant"]);
/** Values of users are theirs, whatever they are called. */
const foreignFields: ReadonlySet<string> = new Set(["props"]);
const batch = 200;
const mostTries = 10;

/**
 * Seals every sealed text within the resources anew where `reseal` says so. What a resource asks for stays the same, so its generation
 * does too, and nothing is deployed again. Each resource is written by itself, as long as nobody else has meanwhile: whoever is
 * killed begins anew and finds what is left.
 */
export async function resealResources({ db }: Pick<Database, "db">, reseal: Reseal, signal: AbortSignal): Promise<Resealed> {
  let resources = 0;
  const unreadable: string[] = [];
  for await (const row of rowsWithSealed({ db })) {
    signal.throwIfAborted();
    const { written, complete } = await resealRow({ db }, row, reseal);
    if (written) resources++;
    if (!complete) unreadable.push(`${row.kind} ${row.namespace}/${row.name}`);
  }
  return { resources, unreadable };
}

async function* rowsWithSealed({ db }: Pick<Database, "db">): AsyncIterable<ResourceRow> {
  let last = { name: "", namespace: "", kind: "" };
  while (true) {
    const { rows } = await sql<ResourceRow>`
      select ${columns} from resources
      where (name, namespace, kind) > (${last.name}, ${last.namespace}, ${last.kind})
        and (position('"sealed":' in spec::text) > 0 or position('"sealed":' in status::text) > 0)
      order by name, namespace, kind limit ${batch}`.execute(db);
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end;
  }
}

async function resealRow(
  { db }: Pick<Database, "db">,
  first: ResourceRow,
  reseal: Reseal,
): Promise<{ readonly written: boolean; readonly complete: boolean }> {
  let row: ResourceRow | undefined = first;
  for (let tries = 0; row !== undefined && tries < mostTries; tries++) {
    const walk = new Walk(reseal);
    const [spec, status] = [await walk.value(row.spec), await walk.value(row.status)];
    if (!walk.changed) return { written: false, complete: !walk.unreadable };
    const written = await sql<{ version: number }>`
      with current as (
        select 1 from resources where kind = ${row.kind} and namespace = ${row.namespace} and name = ${row.name} and resource_version = ${row.resource_version}
      ),
      head as (update resource_head set version = version + 1 where exists (select 1 from current) returning version),
      changed as (
        update resources set spec = ${canonicalJson(spec)}::json, status = ${canonicalJson(status)}::json, resource_version = head.version
        from head
        where kind = ${row.kind} and namespace = ${row.namespace} and name = ${row.name} and resource_version = ${row.resource_version}
        returning resources.resource_version as version
      )
      select version, pg_notify(${resourceChannel}, ${row.kind}) from changed`.execute(db);
    if (written.rows.length > 0) return { written: true, complete: !walk.unreadable };
    // Changed meanwhile: what it is now is looked at.
    const { rows }: { rows: ResourceRow[] } = await sql<ResourceRow>`
      select ${columns} from resources where kind = ${row.kind} and namespace = ${row.namespace} and name = ${row.name}`.execute(db);
    row = rows[0];
  }
  return { written: false, complete: row === undefined };
}

/** A copy of a JSON value in which what was sealed is sealed anew. */
class Walk {
  changed = false;
  unreadable = false;
  readonly #reseal: Reseal;

  constructor(reseal: Reseal) {
    this.#reseal = reseal;
  }

  async value(given: unknown): Promise<unknown> {
    if (Array.isArray(given)) return Promise.all(given.map((each) => this.value(each)));
    if (typeof given !== "object" || given === null) return given;
    const entries = Object.entries(given).map(async ([name, value]: [string, unknown]): Promise<[string, unknown]> => [
      name,
      await this.#field(name, value),
    ]);
    return Object.fromEntries(await Promise.all(entries));
  }

  async #field(name: string, value: unknown): Promise<unknown> {
    if (foreignFields.has(name)) return value;
    return typeof value === "string" && sealedFields.has(name) ? this.#sealed(value) : this.value(value);
  }

  async #sealed(text: string): Promise<string> {
    try {
      const next = await this.#reseal(text);
      if (next === undefined) return text;
      this.changed = true;
      return next;
    } catch {
      this.unreadable = true; // Whoever uses it is told by its condition.
      return text;
    }
  }
}
