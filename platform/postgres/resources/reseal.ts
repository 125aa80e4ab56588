import { sql } from "kysely";
import { canonicalJson } from "../../../domain/canonical-json.ts";
import type { Database } from "../connection.ts";
import { columns, type ResourceRow } from "./row.ts";
import { resourceChannel } from "./writes.ts";

/** Returns the re-encrypted text; undefined if it is up to date. */
export type Reseal = (sealed: string) => Promise<string | undefined>;

export interface Resealed {
  /** Number of resources written. */
  readonly resources: number;
  /** Resources with a text that none of our keys opens, as `<kind> <namespace>/<name>`. */
  readonly unreadable: readonly string[];
}

/** Fields with sealed texts: see crds/secret-reference.ts, and the status of an Account. */
const sealedFields: ReadonlySet<string> = new Set(["sealed", "grant"]);
/** Contents of users, whatever their fields are called. */
const userFields: ReadonlySet<string> = new Set(["props"]);
const batchSize = 200;
const maxAttempts = 10;

/**
 * Re-encrypts all sealed texts where `reseal` requires it. The generation does not change, so nothing is deployed again. Each resource is
 * written separately, if it has not changed in the meantime: after a crash, a new run finds the rest.
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
      order by name, namespace, kind limit ${batchSize}`.execute(db);
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
  for (let attempt = 0; row !== undefined && attempt < maxAttempts; attempt++) {
    const resealer = new Resealer(reseal);
    const [spec, status] = [await resealer.value(row.spec), await resealer.value(row.status)];
    if (!resealer.changed) return { written: false, complete: !resealer.unreadable };
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
    if (written.rows.length > 0) return { written: true, complete: !resealer.unreadable };
    // Changed in the meantime: process its current state.
    const { rows }: { rows: ResourceRow[] } = await sql<ResourceRow>`
      select ${columns} from resources where kind = ${row.kind} and namespace = ${row.namespace} and name = ${row.name}`.execute(db);
    row = rows[0];
  }
  return { written: false, complete: row === undefined };
}

/** Copies a JSON value with its sealed texts re-encrypted. */
class Resealer {
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
    if (userFields.has(name)) return value;
    return typeof value === "string" && sealedFields.has(name) ? this.#sealed(value) : this.value(value);
  }

  async #sealed(text: string): Promise<string> {
    try {
      const next = await this.#reseal(text);
      if (next === undefined) return text;
      this.changed = true;
      return next;
    } catch {
      this.unreadable = true; // The resource's condition reports it.
      return text;
    }
  }
}
