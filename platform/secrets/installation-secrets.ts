import { hash, randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultPool } from "../../domain/subjects.ts";
import { databaseRoles, defaultRolePrefix, userOf, type DatabaseRole } from "../postgres/roles.ts";
import { adminCredentials, backupCredentials, builderCredentials, roleCredentials } from "../process/nats/nats-accounts.ts";
import { authentication } from "../process/nats/nats-configuration.ts";
import { natsKeysOf } from "../process/nats/nats-keys.ts";
import { undatedTokens } from "../process/nats/undated-tokens.ts";
import { createSecrets, masterFile } from "./secrets.ts";

/** Texts of a Secret by key. */
export type SecretTexts = Readonly<Record<string, string>>;

/** What everything else is made of; lost, nothing that was sealed can be opened again. */
export interface Roots {
  readonly nats: string;
  /** A JWK Set. */
  readonly master: string;
  /** Of the first user. */
  readonly apiKey: string;
  /** Passwords of the roles' users of Postgres are made of it. */
  readonly passwords: string;
}

export const rootsSecret = "headwater-keys";

export async function newRoots(): Promise<Roots> {
  const random = (): string => randomBytes(32).toString("base64url");
  const directory = await mkdtemp(join(tmpdir(), "headwater-"));
  try {
    await createSecrets(directory);
    const master = await readFile(masterFile(directory), "utf8");
    return { nats: random(), master, apiKey: `hw_${random()}`, passwords: random() };
  } finally {
    await rm(directory, { recursive: true });
  }
}

export interface PostgresAddress {
  /** host:port/database */
  readonly address: string;
  /** Of a user who may make tables and roles. */
  readonly username: string;
  readonly password: string;
  /** Of the names of the roles' users. */
  readonly rolePrefix?: string;
}

/**
 * The Secrets of an installation by name: each role finds in its own what it may know and nothing else. They follow from the roots, so
 * that one which was lost is the same when it is made again.
 */
export async function installationSecrets(roots: Roots, postgres: PostgresAddress): Promise<Readonly<Record<string, SecretTexts>>> {
  const { rolePrefix = defaultRolePrefix } = postgres;
  const keys = natsKeysOf(roots.nats);
  const passwordOf = (name: string): string => hash("sha256", `${roots.passwords} ${name}`, "base64url");
  const databaseUrl = (role: DatabaseRole): string => urlOf(postgres.address, userOf(role, rolePrefix), passwordOf(role));
  const routesPassword = passwordOf("nats routes");
  const master = { "master.json": roots.master };
  return {
    "headwater-nats": {
      "auth.conf": lines(await authentication(keys, [{ pool: defaultPool }], "/data")),
      "cluster-auth.conf": lines({ authorization: { user: "headwater", password: routesPassword, timeout: 5 } }),
      // Part of the routes' addresses: a server authenticates with it at the other servers.
      "routes-password": routesPassword,
    },
    "headwater-api": { "nats.creds": await roleCredentials(keys, "api"), DATABASE_URL: databaseUrl("api") },
    "headwater-operator": {
      ...master,
      "nats-root": roots.nats,
      "nats.creds": await roleCredentials(keys, "operator"),
      DATABASE_URL: databaseUrl("operator"),
    },
    "headwater-delivery": { ...master, "nats.creds": await roleCredentials(keys, "delivery"), DATABASE_URL: databaseUrl("delivery") },
    "headwater-ingress": { "nats.creds": await roleCredentials(keys, "ingress") },
    "headwater-builder": { "nats.creds": await builderCredentials(keys) },
    "headwater-backup": {
      "nats.creds": await backupCredentials(keys),
      "backup.key": passwordOf("backups"),
      DATABASE_URL: databaseUrl("backup"),
    },
    "headwater-api-key": { "api-key": roots.apiKey },
    "headwater-setup": {
      "api-key": roots.apiKey,
      "nats-root": roots.nats,
      "nats.creds": await adminCredentials(keys),
      "backup.key": passwordOf("backups"),
      DATABASE_URL: urlOf(postgres.address, postgres.username, postgres.password),
      "database-passwords.json": JSON.stringify({
        ...Object.fromEntries(databaseRoles.map((role) => [role, passwordOf(role)])),
        ...(rolePrefix === defaultRolePrefix ? {} : { prefix: rolePrefix }),
      }),
    },
  };
}

const urlOf = (address: string, user: string, password: string): string =>
  `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${address}`;

/** JSON is a subset of the configuration language of nats-server. */
const lines = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join("");

/** Do two say the same, whenever their tokens were signed? */
export const saysTheSame = (one: SecretTexts, other: SecretTexts): boolean =>
  JSON.stringify(undated(one)) === JSON.stringify(undated(other));

const undated = (texts: SecretTexts): readonly (readonly [string, string])[] =>
  Object.entries(texts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => [name, undatedTokens(text)]);
