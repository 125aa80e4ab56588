import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInput } from "../../../domain/errors.ts";
import { accountInbox, type AccountRole } from "../../jetstream/connection/account-rights.ts";
import type { NatsAccess } from "../own-servers.ts";
import type { Configuration } from "../settings/configuration.ts";
import { parseCredentials, parseNatsUrl, requireLogin, type NatsConnection } from "./nats-connection.ts";

type Settings = Pick<
  Configuration,
  "natsUrl" | "natsCredentialsFile" | "natsAccount" | "natsDomain" | "natsPrefix" | "natsTls" | "roles" | "setsUp" | "backsUp"
>;

/** An external server. Roles of this process share the given credentials, except with a user for each role. @throws InvalidInput */
export async function givenNats(configuration: Settings): Promise<NatsAccess> {
  const { natsUrl = "", natsTls, natsAccount, natsCredentialsFile: file } = configuration;
  const server = { ...parseNatsUrl(natsUrl), ...(natsTls === undefined ? {} : { tlsFiles: natsTls }) };
  if (natsAccount === "own") {
    const nats = { ...server, ...(file === undefined ? {} : { ...parseCredentials(await readCredentials(file)), credentialsFile: file }) };
    return { nats, natsOf: () => nats };
  }
  return accountNats(configuration, server);
}

/** A user of an account that is not ours (decision 0111). */
async function accountNats(configuration: Settings, server: NatsConnection): Promise<NatsAccess> {
  const { natsDomain, natsPrefix } = configuration;
  const names = {
    ...(natsDomain === undefined ? {} : { apiPrefix: `$JS.${natsDomain}.API` }),
    ...(natsPrefix === undefined ? {} : { prefix: natsPrefix }),
  };
  const connect = async (role: AccountRole): Promise<NatsConnection> => {
    const file = await accountCredentialsFile(configuration, role);
    const credentials = file === undefined ? {} : { credentials: await readLogin(file), credentialsFile: file };
    return { ...server, ...names, ...credentials, inboxPrefix: accountInbox(role, natsPrefix) };
  };
  const connections = new Map(await Promise.all(accountUsersOf(configuration).map(async (role) => [role, await connect(role)] as const)));
  const nats = connections.get("operator") ?? [...connections.values()][0] ?? server;
  return { nats, natsOf: (role) => connections.get(role) ?? nats };
}

/** The users whose credentials this process needs. The operator's user sets up the installation. */
export function accountUsersOf({ roles, setsUp, backsUp }: Pick<Settings, "roles" | "setsUp" | "backsUp">): readonly AccountRole[] {
  if (backsUp) return ["backup"];
  return setsUp ? ["operator"] : roles;
}

/** The file with the credentials of a role; undefined if NATS_URL has them. */
export async function accountCredentialsFile(
  { natsCredentialsFile: path }: Pick<Settings, "natsCredentialsFile">,
  role: AccountRole,
): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const isDirectory = await stat(path).then(
    (found) => found.isDirectory(),
    () => false, // Reading it reports why.
  );
  return isDirectory ? join(path, `${role}.creds`) : path;
}

async function readLogin(file: string): Promise<string> {
  const text = await readCredentials(file);
  requireLogin(text);
  return text;
}

export function readCredentials(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new InvalidInput(`HEADWATER_NATS_CREDENTIALS names ${file}, which cannot be read: ${cause.code}`, { cause });
  });
}
