import { readFile } from "node:fs/promises";
import { InvalidInput } from "../../../domain/errors.ts";
import type { NatsAccess } from "../own-servers.ts";
import type { Configuration } from "../settings/configuration.ts";
import { parseCredentials, parseNatsUrl, requireLogin, type NatsConnection } from "./nats-connection.ts";

type Settings = Pick<Configuration, "natsUrl" | "natsCredentialsFile" | "natsAccount" | "natsDomain" | "natsTls">;

/** An external server. Roles of this process share the given credentials. @throws InvalidInput */
export async function givenNats(configuration: Settings): Promise<NatsAccess> {
  const { natsUrl = "", natsTls, natsAccount, natsDomain: domain, natsCredentialsFile: file } = configuration;
  const text = file === undefined ? undefined : await readCredentials(file);
  const nats: NatsConnection = {
    ...parseNatsUrl(natsUrl),
    ...(natsTls === undefined ? {} : { tlsFiles: natsTls }),
    ...(text === undefined ? {} : natsAccount === "own" ? parseCredentials(text) : givenLogin(text)),
    ...(file === undefined ? {} : { credentialsFile: file }),
    ...(domain === undefined ? {} : { apiPrefix: `$JS.${domain}.API` }),
  };
  return { nats, natsOf: () => nats };
}

/** The user of an account that Headwater has not signed, for all roles. */
function givenLogin(text: string): Pick<NatsConnection, "credentials"> {
  requireLogin(text);
  return { credentials: text };
}

export function readCredentials(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new InvalidInput(`HEADWATER_NATS_CREDENTIALS names ${file}, which cannot be read: ${cause.code}`, { cause });
  });
}
