import { hash } from "node:crypto";
import { sql, type RawBuilder, type Transaction } from "kysely";
import { advisoryLocks } from "../advisory-locks.ts";
import type { ListedPublication, NewPublication, Publication, Publications, PublishOutcome } from "../../../api/resources/library/ports.ts";
import { codeBytes, identityOf, type ComponentCode } from "../../../domain/component/component-code.ts";
import type { ComponentDefinition } from "../../../domain/component/definition.ts";
import { publicationLimits } from "../../../domain/component/publication.ts";
import { compareVersions, currentVersion, parseSemanticVersion } from "../../../domain/component/semantic-version.ts";
import type { Database } from "../connection.ts";
import { plain } from "../columns.ts";
import { listedComponent } from "../resources/listed-component.ts";
import type { Tables } from "../tables.ts";

/** Columns of a version, without its code. */
export interface PublicationRow {
  readonly key: string;
  readonly version: string;
  readonly id: string;
  /** Written by `publish` from a valid definition. */
  readonly component: { readonly definition: ComponentDefinition; readonly codeHash: string };
  readonly published_ms: number;
  readonly deprecated: string | null;
}

interface Bounds {
  readonly versionsOfKey: number;
  readonly versions: number;
  readonly codeBytes: number;
  readonly definitionsBytes: number;
}

const listed: RawBuilder<unknown> = sql`key, version, id, component, published_ms, deprecated`;
const maxKeysLike = 100;

export function createPublications({ db }: Pick<Database, "db">, bounds: Bounds = publicationLimits): Publications {
  const alone = <T>(change: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> =>
    db.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(${advisoryLocks.publications})`.execute(transaction);
      return change(transaction);
    });
  return {
    publish: (version) => alone((transaction) => publish(version, bounds, transaction)),
    async find(key, version) {
      const which = version === undefined ? sql`is_current` : sql`version = ${plain(version)}`;
      const { rows } = await sql<PublicationRow & { code: ComponentCode }>`
        select ${listed}, code from publications where key = ${plain(key)} and ${which} and code is not null`.execute(db);
      return rows[0] === undefined ? undefined : { ...listedFrom(rows[0]), ...rows[0].code, ...keyed(rows[0]) };
    },
    async listCurrent(limit) {
      const { rows } = await sql<PublicationRow & { total: number }>`
        select ${listed}, count(*) over () as total from publications
        where is_current and deprecated is null order by key limit ${limit}`.execute(db);
      return { items: rows.map(listedFrom), total: rows[0]?.total ?? 0 };
    },
    async listVersions(key) {
      const { rows } = await sql<PublicationRow>`
        select ${listed} from publications where key = ${plain(key)} and code is not null`.execute(db);
      return rows.map(listedFrom).toSorted((a, b) => compareTexts(b.version, a.version));
    },
    async deprecationOf(key, version) {
      const { rows } = await sql<{ deprecated: string | null }>`
        select deprecated from publications where key = ${plain(key)} and version = ${plain(version)}`.execute(db);
      return rows[0]?.deprecated ?? null;
    },
    async keysLike(beginning) {
      const { rows } = await sql<{ key: string }>`
        select key from publications where is_current and starts_with(key, ${plain(beginning)}) order by key limit ${maxKeysLike}`.execute(
        db,
      );
      return rows.map(({ key }) => key);
    },
    deprecate: (key, version, deprecated) =>
      alone(async (transaction) => {
        const text = deprecated === null ? null : plain(deprecated);
        const { numAffectedRows = 0n } = await sql`
          update publications set deprecated = ${text}
          where key = ${plain(key)} and version = ${plain(version)} and code is not null`.execute(transaction);
        await chooseCurrent(key, transaction);
        return numAffectedRows > 0n;
      }),
    delete: (key, version) =>
      alone(async (transaction) => {
        const { rows } = await sql<{ deprecated: string | null }>`
          select deprecated from publications
          where key = ${plain(key)} and version = ${plain(version)} and code is not null`.execute(transaction);
        if (rows[0] === undefined) return "absent";
        if (rows[0].deprecated === null) return "not-deprecated";
        await sql`
          update publications set code = null, code_bytes = 0 where key = ${plain(key)} and version = ${plain(version)}`.execute(
          transaction,
        );
        await chooseCurrent(key, transaction);
        return "deleted";
      }),
  };
}

async function publish(version: NewPublication, bounds: Bounds, transaction: Transaction<Tables>): Promise<PublishOutcome> {
  const { id, key, code, entry, files, definition, publishedAtMs } = version;
  const text: ComponentCode = { code, ...(entry === undefined ? {} : { entry }), ...(files === undefined ? {} : { files }) };
  const identity = hash("sha256", identityOf(text));
  const bytes = codeBytes(text);
  const { rows: known } = await sql<{ identity: string; is_deleted: boolean }>`
    select identity, code is null as is_deleted from publications where key = ${key} and version = ${version.version}`.execute(transaction);
  if (known[0] !== undefined) return known[0].is_deleted ? "deleted" : known[0].identity === identity ? "existing" : "other-code";
  const component = listedComponent({ build: { definition, codeHash: hash("sha256", code) }, updatedAt: publishedAtMs }) ?? "null";
  const size = { code: bytes, definition: Buffer.byteLength(component) };
  const full = await fullBound(key, size, bounds, transaction);
  if (full !== undefined) return full;
  await sql`
    insert into publications (key, version, id, identity, code, code_bytes, component, component_bytes, published_ms)
    values (${key}, ${version.version}, ${id}, ${identity}, ${JSON.stringify(text)}::json, ${bytes},
      ${component}::jsonb, ${size.definition}, ${publishedAtMs})`.execute(transaction);
  await chooseCurrent(key, transaction);
  return "published";
}

/** The bound that one more version would exceed. Deleted versions do not count. */
async function fullBound(
  key: string,
  size: { readonly code: number; readonly definition: number },
  bounds: Bounds,
  transaction: Transaction<Tables>,
): Promise<"key-full" | "full" | undefined> {
  const { rows } = await sql<{ of_key: number; versions: number; code: number; definitions: number }>`
    select count(*) filter (where key = ${key})::integer as of_key, count(*)::integer as versions,
      coalesce(sum(code_bytes), 0)::float8 as code, coalesce(sum(component_bytes), 0)::float8 as definitions
    from publications where code is not null`.execute(transaction);
  const { of_key: ofKey = 0, versions = 0, code = 0, definitions = 0 } = rows[0] ?? {};
  if (ofKey >= bounds.versionsOfKey) return "key-full";
  const isFull =
    versions >= bounds.versions || code + size.code > bounds.codeBytes || definitions + size.definition > bounds.definitionsBytes;
  return isFull ? "full" : undefined;
}

/** SQL does not order semantic versions. */
async function chooseCurrent(key: string, transaction: Transaction<Tables>): Promise<void> {
  const { rows } = await sql<{ version: string; deprecated: string | null }>`
    select version, deprecated from publications where key = ${plain(key)} and code is not null`.execute(transaction);
  const current = currentVersion(rows)?.version ?? null;
  await sql`
    update publications set is_current = false
    where key = ${plain(key)} and is_current and version is distinct from ${current}`.execute(transaction);
  await sql`
    update publications set is_current = true where key = ${plain(key)} and version = ${current} and not is_current`.execute(transaction);
}

function compareTexts(a: string, b: string): number {
  const [one, other] = [parseSemanticVersion(a), parseSemanticVersion(b)];
  return one === undefined || other === undefined ? 0 : compareVersions(one, other);
}

const keyed = ({ key, published_ms }: PublicationRow): Pick<Publication, "key" | "released"> => ({
  key,
  released: new Date(published_ms).toISOString().slice(0, 10),
});

/** Also of a row that a search has found. */
export const listedFrom = ({ id, version, component, published_ms, deprecated }: PublicationRow): ListedPublication => ({
  id,
  version,
  definition: component.definition,
  codeHash: component.codeHash,
  createdAtMs: published_ms,
  updatedAtMs: published_ms,
  isPublished: true,
  deprecated,
});

/** The code that a key stands for, for the operator, which reads nothing else of the table. */
export async function findPublishedCode({ db }: Pick<Database, "db">, key: string): Promise<ComponentCode | undefined> {
  const { rows } = await sql<{ code: ComponentCode }>`
    select code from publications where key = ${plain(key)} and is_current and code is not null`.execute(db);
  return rows[0]?.code;
}
