import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builderCredentials, poolCredentials, roleCredentials } from "./nats-accounts.ts";
import type { RoleName } from "../settings/configuration.ts";
import { parseCredentials, type NatsConnection } from "./nats-connection.ts";
import type { NatsKeys } from "./nats-keys.ts";

type Credentials = Omit<NatsConnection, "servers">;

/** Credentials of each role, also stored as `<role>.creds` (mode 0600), so that a process can be given only those of its role. */
export async function storeRoleCredentials(
  directory: string,
  keys: NatsKeys,
  pool: string,
): Promise<Readonly<Record<RoleName, Credentials>>> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const keep = async (role: RoleName, text: string): Promise<Credentials> => {
    const credentialsFile = join(directory, `${role}.creds`);
    await writeFile(`${credentialsFile}.new`, text, { mode: 0o600 });
    await rename(`${credentialsFile}.new`, credentialsFile);
    return { ...parseCredentials(text), credentialsFile };
  };
  return {
    ingress: await keep("ingress", await roleCredentials(keys, "ingress")),
    api: await keep("api", await roleCredentials(keys, "api")),
    operator: await keep("operator", await roleCredentials(keys, "operator")),
    delivery: await keep("delivery", await roleCredentials(keys, "delivery")),
    runner: await keep("runner", await poolCredentials(keys, { pool })),
    builder: await keep("builder", await builderCredentials(keys)),
  };
}
