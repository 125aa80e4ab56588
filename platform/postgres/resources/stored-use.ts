import { sql } from "kysely";
import type { StoredUse } from "../../../api/resources/ports.ts";
import { kinds } from "../../../crds/kinds.ts";
import type { Database } from "../connection.ts";

const names = kinds.map(({ kind }) => kind);

export function createStoredUse({ db }: Pick<Database, "db">): StoredUse {
  return {
    async sharersOf(owner) {
      const created = await db.selectFrom("organizations").select("created_by").where("id", "=", owner).executeTakeFirst();
      const first = created?.created_by ?? owner;
      const others = await db.selectFrom("organizations").select("id").where("created_by", "=", first).execute();
      return [first, ...others.map(({ id }) => id)];
    },
    /** Reads all specs: Postgres keeps no length of a value in JSON. */
    async read(namespaces) {
      const { rows } = await sql<{ resources: number; bytes: number }>`
        select count(*) as resources, coalesce(sum(octet_length(spec::text)), 0)::bigint as bytes
        from resources where kind = any(${names}::text[]) and namespace = any(${namespaces}::text[]) and ended_at is null`.execute(db);
      return rows[0] ?? { resources: 0, bytes: 0 };
    },
  };
}
