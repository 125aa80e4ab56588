import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeAccountRights } from "../../platform/jetstream/connection/account-rights.ts";
import { givenNats } from "../../platform/process/nats/given-nats.ts";
import { parseConfiguration } from "../../platform/process/settings/configuration.ts";
import { createLogger } from "../../platform/telemetry/logger.ts";
import type { RoleContext } from "../../wiring/context.ts";
import { prepare } from "../../wiring/install/prepare.ts";
import { launch } from "../e2e/support/headwater.ts";
import { startForeignNats, type ForeignNats, type NatsPermissions } from "../support/nats/foreign-nats.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { until } from "./jetstream/support.ts";

let directory: TemporaryDirectory;
let nats: ForeignNats;

beforeAll(async () => {
  directory = await temporaryDirectory("account-setup");
  nats = await startForeignNats({ directory: join(directory.path, "nats"), limits: { disk_storage: 2 * 2 ** 30 } });
});
afterAll(async () => {
  await nats.stop();
  await directory.remove();
});

const rights = (prefix: string): Readonly<Record<string, NatsPermissions>> =>
  JSON.parse(describeAccountRights({ prefix })) as Readonly<Record<string, NatsPermissions>>; // As written.

async function environmentWith(
  name: string,
  credentials: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, string>>> {
  const file = join(directory.path, `${name}.creds`);
  await writeFile(file, credentials, { mode: 0o600 });
  return { NATS_URL: nats.url, HEADWATER_NATS_CREDENTIALS: file, HEADWATER_NATS_PREFIX: name, HEADWATER_STORE_SIZE: "1Gi", ...more };
}

/** Setup, without tables. */
async function setUpWith(env: Readonly<Record<string, string>>): Promise<void> {
  const configuration = parseConfiguration({ HEADWATER_ROLES: "setup", HEADWATER_NATS_ACCOUNT: "perRole", ...env });
  const context: RoleContext = {
    ...(await givenNats(configuration)),
    configuration,
    databaseUrl: undefined,
    databaseUrlOf: () => undefined,
    databasePasswords: undefined,
    dataDirectory: directory.path,
    logger: createLogger({ level: "silent" }),
  };
  await prepare(context);
}

describe("setup in an account that others have signed", () => {
  it("creates the streams with the rights of the operator", async () => {
    const { creds } = await nats.user("operator", rights("good")["operator"]);
    const env = await environmentWith("good", creds);
    await expect(setUpWith(env)).resolves.toBeUndefined();
    await expect(setUpWith(env)).resolves.toBeUndefined(); // Again, with its own streams in the account.
  });

  it("names the limit that is too small", async () => {
    const { creds } = await nats.user("all");
    const env = await environmentWith("large", creds, { HEADWATER_STORE_SIZE: "4Gi" });
    await expect(setUpWith(env)).rejects.toThrow(/^the account of NATS is too small: it allows \d+ of 4294967296 storage/);
  });

  it("names the right that the user lacks", async () => {
    const operator = rights("poor")["operator"];
    const allow = (operator?.publish.allow ?? []).filter((subject) => subject !== "$JS.API.STREAM.CREATE.poor_RUNS");
    const { creds } = await nats.user("operator", {
      publish: { allow },
      subscribe: { allow: operator?.subscribe.allow ?? [] },
      allow_responses: { max: 1, expires: "2m" },
    });
    await expect(setUpWith(await environmentWith("poor", creds))).rejects.toThrow(
      /of the role operator lacks the right to publish on \$JS\.API\.STREAM\.CREATE\.poor_RUNS: --nats-rights/,
    );
  });

  it("refuses a user that Headwater has not signed unless an account of others is chosen", async () => {
    const env = await environmentWith("unchosen", (await nats.user("all")).creds);
    const configuration = parseConfiguration({ ...env, HEADWATER_NATS_PREFIX: "" });
    await expect(givenNats(configuration)).rejects.toThrow(/has not signed: set HEADWATER_NATS_ACCOUNT/);
    expect(() => parseConfiguration(env)).toThrow(/HEADWATER_NATS_PREFIX is set, but HEADWATER_NATS_ACCOUNT is not shared or perRole/);
  });
});

describe("a role whose user is revoked", () => {
  it("says so in its readiness, and works again with a replaced file", async () => {
    const [operator, first, second] = await Promise.all([nats.user("all"), nats.user("all"), nats.user("all")]);
    const env = await environmentWith("rotated", operator.creds);
    await setUpWith(env);
    const credentials = join(directory.path, "credentials");
    await mkdir(credentials);
    const file = join(credentials, "ingress.creds");
    await writeFile(file, first.creds);
    const health = `127.0.0.1:${await steadyPort()}`;
    const { child, output } = launch({
      ...env,
      HEADWATER_ROLES: "ingress",
      HEADWATER_NATS_ACCOUNT: "perRole",
      HEADWATER_NATS_CREDENTIALS: credentials,
      HEADWATER_HEALTH_LISTEN: health,
      HEADWATER_INGRESS_LISTEN: `127.0.0.1:${await steadyPort()}`,
      HEADWATER_DATA: join(directory.path, "data"),
    });
    const readiness = async (): Promise<{ readonly status: number; readonly text: string }> => {
      const response = await fetch(`http://${health}/readyz`).catch(() => undefined);
      return { status: response?.status ?? 0, text: (await response?.text()) ?? output() };
    };
    try {
      await until(async () => (await readiness()).status === 200, "the role is ready");
      await nats.revoke(first);
      await until(async () => (await readiness()).text.includes("NATS refuses the credentials"), "readiness names the credentials");
      await writeFile(`${file}.new`, second.creds);
      await rename(`${file}.new`, file);
      await until(async () => (await readiness()).status === 200, "the role is ready again");
    } finally {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGINT");
      await exited;
    }
  });
});
