import { z } from "zod";
import { Forbidden, InvalidInput, NotFound } from "../../domain/errors.ts";
import { isId, newId } from "../../domain/ids.ts";
import { hashOf } from "../http/access/hash.ts";
import type { AnonymousCall } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { text } from "../http/request/parameters.ts";
import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import type { ApiKey } from "../owners/ports.ts";
import { scopes, type KeyGrant } from "../http/ports.ts";

/** Bounds a user's keys, because each key has its own rate limit. */
const maxKeys = 50;
/** The end of the year 9999, to detect milliseconds given as seconds. */
const lastSecond = 253_402_300_799;
const inSeconds = "it must be epoch seconds";

export const keyFields = z.object({
  name: text.min(1, "it must not be empty").max(100, "it must have at most 100 characters").describe("Display name."),
  scopes: z
    .array(z.enum(scopes, `it must be ${scopes.join(" or ")}`))
    .min(1, "it must name a scope at least")
    .nullish()
    .describe("`read` and `write`; by default those of the key that creates it, or both with the admin token."),
  expires_at: z
    .int(inSeconds)
    .max(lastSecond, inSeconds)
    .nullish()
    .describe("Epoch seconds; by default that of the key that creates it, or never with the admin token."),
});

/** Grant of a key that was not created with another key. */
export const everyGrant: KeyGrant = { scopes, expiresAt: null };

export interface IssuedKey {
  readonly key: ApiKey;
  /** The key itself, which is returned only once. */
  readonly text: string;
}

/** @param max grant that the key must not exceed @throws Forbidden when it would; InvalidInput, NotFound, Conflict */
export async function issueKey(
  user: string,
  fields: z.output<typeof keyFields>,
  max: KeyGrant,
  { accounts, clock, randomBytes }: Pick<ApiPorts, "accounts" | "clock" | "randomBytes">,
): Promise<IssuedKey> {
  const grant = grantOf(fields, max, clock.now());
  const made = `hw_${Buffer.from(randomBytes(32)).toString("base64url")}`;
  const key = { id: newId("apiKey", randomBytes), hash: hashOf(made), prefix: made.slice(0, 10), name: fields.name, ...grant };
  return { key: await accounts.createKey(user, key, maxKeys), text: made };
}

/** The requested grant; absent parts default to `max`. */
function grantOf({ scopes: requested, expires_at }: z.output<typeof keyFields>, max: KeyGrant, now: number): KeyGrant {
  const granted = scopes.filter((scope) => (requested ?? max.scopes).includes(scope));
  const beyond = granted.find((scope) => !max.scopes.includes(scope));
  if (beyond !== undefined)
    throw new Forbidden(`the new key would have the scope '${beyond}', which this one does not have`, { code: "scope_missing" });
  const expiresAt = typeof expires_at === "number" ? expires_at * 1000 : max.expiresAt;
  if (expiresAt !== null && expiresAt <= now)
    throw new InvalidInput(`expires_at ${epochSeconds(expiresAt)} is invalid: it must be later than now, ${epochSeconds(now)}`);
  if (expiresAt !== null && max.expiresAt !== null && expiresAt > max.expiresAt)
    throw new Forbidden(`the new key would expire later than this one, which expires at ${epochSeconds(max.expiresAt)}`);
  return { scopes: granted, expiresAt };
}

/** Without the key itself, which only the response to its creation adds. */
export function keyResponse(key: ApiKey) {
  const { id, name, prefix, createdAt, expiresAt, lastUsedAt } = key;
  return {
    id,
    name,
    prefix,
    scopes: key.scopes,
    created_at: epochSeconds(createdAt),
    expires_at: expiresAt === null ? null : epochSeconds(expiresAt),
    last_used_at: lastUsedAt === null ? null : epochSeconds(lastUsedAt),
  };
}

/** @throws NotFound when the path has no valid id of a key */
export function keyIdOf(call: AnonymousCall, name: string): string {
  const id = pathOf(call, name);
  if (!isId("apiKey", id)) throw new NotFound(`there is no API key '${id.slice(0, 80)}': its id looks like pk_…`);
  return id;
}
