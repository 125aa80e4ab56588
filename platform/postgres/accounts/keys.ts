import { sql, type Kysely, type Selectable } from "kysely";
import type { Accounts, ApiKey } from "../../../api/owners/ports.ts";
import type { Scope } from "../../../api/http/ports.ts";
import { Conflict, NotFound } from "../../../domain/errors.ts";
import type { ApiKeyTable, Tables } from "../tables.ts";
import { batched } from "../batched.ts";
import { withConstraintErrors } from "./constraints.ts";
import { inTransaction } from "../connection.ts";

const lastUsedResolution = "1 minute";

interface KeyRow {
  readonly key_hash: string;
  readonly key: string;
  readonly key_name: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: Date | null;
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly is_stale: boolean;
}

type Keys = Pick<Accounts, "findKey" | "listKeys" | "createKey" | "revokeKey">;

/**
 * An expired key is found, with its expiry, so that the API can say why it refuses it. A revoked key is not found. The last use of a key is
 * recorded once a minute, until it expires.
 */
export function createKeys(db: Kysely<Tables>): Keys {
  // Every request looks up its key.
  const find = batched(async (hashes) => {
    const { rows } = await sql<KeyRow>`
      select key_hash, api_keys.id as key, api_keys.name as key_name, scopes, expires_at, users.id, username, email,
        coalesce(last_used_at < now() - ${lastUsedResolution}::interval, true) and coalesce(expires_at > now(), true) as is_stale
      from api_keys join users on users.id = user_id where key_hash = any(${hashes}::text[]) and revoked_at is null`.execute(db);
    return new Map(rows.map((row) => [row.key_hash, row]));
  });
  return {
    async findKey(hash) {
      const row = await find(hash);
      if (row === undefined) return undefined;
      // Of concurrent requests, one updates the row.
      if (row.is_stale)
        await sql`
          update api_keys set last_used_at = now()
          where key_hash = ${hash} and coalesce(last_used_at < now() - ${lastUsedResolution}::interval, true)`.execute(db);
      const { key, key_name: name, scopes, expires_at, id, username, email } = row;
      return { id: key, name, scopes, expiresAt: expires_at?.getTime() ?? null, user: { id, username, email } };
    },
    async listKeys(user) {
      const rows = await db
        .selectFrom("api_keys")
        .selectAll()
        .where("user_id", "=", user)
        .where("revoked_at", "is", null)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .execute();
      return rows.map(keyFrom);
    },
    async createKey(user, { id, hash, prefix, name, scopes, expiresAt }, maxKeys) {
      const expires = expiresAt === null ? null : new Date(expiresAt);
      const { rows } = await withConstraintErrors(
        inTransaction(db, async (transaction) => {
          // Serialized by a lock: concurrent requests would each miss the other's key in the count.
          await sql`select from users where id = ${user} for no key update`.execute(transaction);
          return sql<Selectable<ApiKeyTable>>`
            insert into api_keys (key_hash, id, user_id, prefix, name, scopes, expires_at)
            select ${hash}, ${id}, ${user}, ${prefix}, ${name}, ${scopes}::text[], ${expires}::timestamptz
            where (select count(*) from api_keys where user_id = ${user} and revoked_at is null) < ${maxKeys}
            returning *`.execute(transaction);
        }),
      );
      if (rows[0] === undefined)
        throw new Conflict(`the user has ${maxKeys} API keys, the maximum: revoke one first`, { code: "too_many_keys" });
      return keyFrom(rows[0]);
    },
    async revokeKey(user, id) {
      const { numAffectedRows } =
        await sql`update api_keys set revoked_at = now() where id = ${id} and user_id = ${user} and revoked_at is null`.execute(db);
      if (numAffectedRows !== 1n) throw new NotFound(`API key ${id} does not exist or was already revoked`);
    },
  };
}

function keyFrom(row: Selectable<ApiKeyTable>): ApiKey {
  return {
    id: row.id,
    prefix: row.prefix,
    name: row.name,
    scopes: row.scopes,
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at?.getTime() ?? null,
    lastUsedAt: row.last_used_at?.getTime() ?? null,
  };
}
