import { z } from "zod";
import { InvalidInput } from "../../../domain/errors.ts";
import type { ClientFiles } from "../../tls/client-files.ts";
import { parseLogin, type Login } from "../../jetstream/connection/authenticator.ts";
import { importedApi, inboxPrefix } from "../../jetstream/connection/permissions.ts";

/** Connection settings of a client; options of `connect` in @nats-io/transport-node. */
export interface NatsConnection {
  /** host:port, or several separated by commas; never with a password. */
  readonly servers: string;
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  /** Text of a credentials file, see `parseLogin`. Not an option of `connect`: see `openLink`. */
  readonly credentials?: string;
  /** The file with these credentials: read again for each connection, and given to child processes. */
  readonly credentialsFile?: string;
  /** Subject prefix for replies, the only one the user may subscribe to. */
  readonly inboxPrefix?: string;
  /** The user's name for `$JS.API`. */
  readonly apiPrefix?: string;
  /** With files, the servers must have a certificate for one of their hosts. Not an option of `connect`: see `openLink`. */
  readonly tlsFiles?: ClientFiles;
}

/** Parses `nats://host:4222`, `nats://user:password@host:4222` or `nats://token@host:4222`. The client ignores credentials in a URL. */
export function parseNatsUrl(address: string): NatsConnection {
  const urls = address.split(",").map((part) => new URL(part.includes("://") ? part.trim() : `nats://${part.trim()}`));
  const servers = urls.map((url) => `${url.protocol}//${url.host}`).join(",");
  const named = urls.find((url) => url.username !== "");
  if (named === undefined) return { servers };
  const user = decodeURIComponent(named.username);
  return named.password === "" ? { servers, token: user } : { servers, user, pass: decodeURIComponent(named.password) };
}

/** Marks users signed by Headwater, which are named after roles. */
export const ownTag = "headwater";

const claims = z.object({ name: z.string(), nats: z.object({ tags: z.array(z.string()).default([]) }) });

/**
 * Parses the text of a credentials file of a user that Headwater has signed, with its inbox prefix, and outside the streams' account another
 * prefix of the JetStream API. @throws InvalidInput without quoting the text
 */
export function parseCredentials(text: string): Pick<NatsConnection, "credentials" | "inboxPrefix" | "apiPrefix"> {
  const login = requireLogin(text);
  const { name, nats } = login.kind === "token" ? claimsOf(login.token) : noClaims;
  if (!nats.tags.includes(ownTag))
    throw new InvalidInput(
      "the NATS credentials are of a user that Headwater has not signed: set HEADWATER_NATS_ACCOUNT (chart: nats.credentials) to shared if the account is yours",
      { code: "nats_account" },
    );
  const isOutside = name === "runner" || name === "builder";
  return { credentials: text, inboxPrefix: inboxPrefix(name), ...(isOutside ? { apiPrefix: importedApi } : {}) };
}

/** @throws InvalidInput without quoting the text */
export function requireLogin(text: string): Login {
  const login = parseLogin(text);
  if (login === undefined) throw damaged();
  return login;
}

const noClaims: z.output<typeof claims> = { name: "", nats: { tags: [] } };

function claimsOf(token: string): z.output<typeof claims> {
  try {
    return claims.parse(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()));
  } catch {
    throw damaged();
  }
}

const damaged = (): InvalidInput =>
  new InvalidInput(
    "the NATS credentials are damaged: they must be the text of a .creds file, with a user's token and seed, the seed of an nkey, or user:password",
  );

/** The inverse of `parseNatsUrl`, for the environment of a child process. Contains the password: never log it. */
export function formatNatsUrl(connection: NatsConnection): string {
  const credentials = connection.token ?? connection.user;
  if (credentials === undefined) return connection.servers;
  const prefix = encodeURIComponent(credentials) + (connection.pass === undefined ? "" : `:${encodeURIComponent(connection.pass)}`);
  return connection.servers
    .split(",")
    .map((server) => server.replace("://", `://${prefix}@`))
    .join(",");
}
