import { createHash } from "node:crypto";
import { z } from "zod";
import { Forbidden, InvalidInput } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { text } from "../http/parameters.ts";
import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import { scopes, type ApiKey, type KeyGrant } from "./ports.ts";

/** Each key has its own share of requests, so that there must be an end to keys. */
const mostKeys = 50;
/** The end of the year 9999: milliseconds given as seconds are noticed. */
const lastSecond = 253_402_300_799;
const inSeconds = "it must be epoch seconds";

export const keyFields = z.object({
  name: text.min(1, "it must not be empty").max(100, "it must have at most 100 characters"),
  scopes: z
    .array(z.enum(scopes, `it must be ${scopes.join(" or ")}`))
    .min(1, "it must name a scope at least")
    .nullish(),
  expires_at: z.int(inSeconds).max(lastSecond, inSeconds).nullish(),
});

/** Of a key that nobody made with another key. */
export const everyGrant: KeyGrant = { scopes, expiresAt: null };

export interface IssuedKey {
  readonly key: ApiKey;
  /** The key itself: told to its user now, and to nobody ever again. */
  readonly text: string;
}

/** @throws Forbidden when the key would be more than `most`; InvalidInput, NotFound, Conflict */
export async function issueKey(
  user: string,
  fields: z.output<typeof keyFields>,
  most: KeyGrant,
  { accounts, clock, randomBytes }: Pick<ApiPorts, "accounts" | "clock" | "randomBytes">,
): Promise<IssuedKey> {
  const grant = grantOf(fields, most, clock.now());
  const made = `hw_${Buffer.from(randomBytes(32)).toString("base64url")}`;
  const key = { id: newId("apiKey", randomBytes), hash: keyHashOf(made), prefix: made.slice(0, 10), name: fields.name, ...grant };
  return { key: await accounts.createKey(user, key, mostKeys), text: made };
}

/** A key of 256 random bits cannot be guessed, so one SHA-256 is right; slow hashes are for passwords. */
export function keyHashOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** What is asked for; where nothing is, what `most` is. */
function grantOf({ scopes: wanted, expires_at }: z.output<typeof keyFields>, most: KeyGrant, now: number): KeyGrant {
  const granted = scopes.filter((scope) => (wanted ?? most.scopes).includes(scope));
  const beyond = granted.find((scope) => !most.scopes.includes(scope));
  if (beyond !== undefined)
    throw new Forbidden(`the new key would have the scope '${beyond}', which this one does not have`, { code: "scope_missing" });
  const expiresAt = typeof expires_at === "number" ? expires_at * 1000 : most.expiresAt;
  if (expiresAt !== null && expiresAt <= now)
    throw new InvalidInput(`expires_at ${epochSeconds(expiresAt)} is invalid: it must be later than now, ${epochSeconds(now)}`);
  if (expiresAt !== null && most.expiresAt !== null && expiresAt > most.expiresAt)
    throw new Forbidden(`the new key would expire later than this one, which does at ${epochSeconds(most.expiresAt)}`);
  return { scopes: granted, expiresAt };
}

/** Without the key itself: the answer that tells of its creation adds that, and no other does. */
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
