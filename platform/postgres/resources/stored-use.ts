import { sql } from "kysely";
import type { StoredUse } from "../../../api/resources/ports.ts";
import { kinds } from "../../../crds/kinds.ts";
import type { Database } from "../connection.ts";

const names = kinds.map(({ kind }) => kind);

/** Sums what the namespace of an owner has. `octet_length` reads no large value. */
export function createStoredUse({ db }: Pick<Database, "db">): StoredUse {
  return {
    async read(namespace) {
      const { rows } = await sql<{ resources: number; bytes: number }>`
        select count(*) as resources, coalesce(sum(octet_length(spec::text)), 0)::bigint as bytes
        from resources where kind = any(${names}::text[]) and namespace = ${namespace} and ended_at is null`.execute(db);
      return rows[0] ?? { resources: 0, bytes: 0 };
    },
  };
}
