import { once } from "node:events";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeAccountRights } from "../../platform/jetstream/connection/account-rights.ts";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { areSetUp } from "../../platform/jetstream/streams/streams.ts";
import { givenNats } from "../../platform/process/nats/given-nats.ts";
import { parseConfiguration } from "../../platform/process/settings/configuration.ts";
import { prepare } from "../../wiring/install/prepare.ts";
import { launch } from "../e2e/support/headwater.ts";
import { startForeignNats, type ForeignNats, type NatsPermissions } from "../support/nats/foreign-nats.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { contextWithoutDatabase, startClosingRole } from "./closing-role.ts";
import { until } from "./jetstream/support.ts";

let directory: TemporaryDirectory;
let nats: ForeignNats;

beforeAll(async () => {
  directory = await temporaryDirectory("account-setup");
  nats = await startForeignNats({ directory: join(directory.path, "nats"), limits: { disk_storage: 3 * 2 ** 30 } });
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
  await prepare(await contextWithoutDatabase({ HEADWATER_ROLES: "setup", HEADWATER_NATS_ACCOUNT: "perRole", ...env }, directory.path));
}

describe("setup in an account that others have signed", () => {
  it("creates the streams with the rights of the operator", async () => {
    const { creds } = await nats.user("operator", rights("good")["operator"]);
    const env = await environmentWith("good", creds);
    await expect(setUpWith(env)).resolves.toBeUndefined();
    await expect(setUpWith(env)).resolves.toBeUndefined(); // Again, with its own streams in the account.
  });

  it("continues after a setup that was killed, in an account with no more room than it needs", async () => {
    const tight = await startForeignNats({ directory: join(directory.path, "tight"), limits: { disk_storage: 2 ** 30, streams: 16 } });
    const { creds } = await tight.user("all");
    const env = { ...(await environmentWith("tight", creds)), NATS_URL: tight.url };
    const connection = await connect({ server: { servers: tight.url, credentials: creds, prefix: "tight" }, name: "test" });
    try {
      await setUpWith(env);
      for (const created of ["OBJ_BUNDLES", "STATE"]) await connection.manager.streams.delete(created);
      await expect(setUpWith(env)).resolves.toBeUndefined();
      expect(await areSetUp(connection)).toBe(true);
    } finally {
      await connection.close();
      await tight.stop();
    }
  });

  it("names the limit that is too small", async () => {
    const { creds } = await nats.user("all");
    const env = await environmentWith("large", creds, { HEADWATER_STORE_SIZE: "4Gi" });
    await expect(setUpWith(env)).rejects.toThrow(
      /^the account of NATS is too small: its storage limit leaves \d+ bytes, and the streams need 4294967296 with/,
    );
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

describe("a role whose connection to NATS the client closes by itself", () => {
  it("ends with an error, so that its process is started again", async () => {
    const { creds } = await nats.user("all");
    const env = await environmentWith("closing", creds);
    await setUpWith(env);
    const child = startClosingRole({ ...env, HEADWATER_ROLES: "ingress", HEADWATER_NATS_ACCOUNT: "perRole" });
    const errors = child.stderr === null ? "" : text(child.stderr);
    const [code] = (await once(child, "exit")) as [number | null];
    expect(await errors).toContain("the client has closed the connection to NATS and does not connect again");
    expect(code).toBe(1);
  });
});
