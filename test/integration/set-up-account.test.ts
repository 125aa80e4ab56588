import { once } from "node:events";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { areSetUp } from "../../platform/jetstream/streams/streams.ts";
import { givenNats } from "../../platform/process/nats/given-nats.ts";
import { parseConfiguration } from "../../platform/process/settings/configuration.ts";
import { prepare } from "../../wiring/install/prepare.ts";
import { launch } from "../support/system/headwater.ts";
import { startForeignNats, type ForeignNats } from "../support/nats/foreign-nats.ts";
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

async function environmentWith(
  name: string,
  credentials: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, string>>> {
  const file = join(directory.path, `${name}.creds`);
  await writeFile(file, credentials, { mode: 0o600 });
  return { NATS_URL: nats.url, HEADWATER_NATS_CREDENTIALS: file, HEADWATER_STORE_SIZE: "1Gi", ...more };
}

/** Setup, without tables. */
async function setUpWith(env: Readonly<Record<string, string>>): Promise<void> {
  await prepare(await contextWithoutDatabase({ HEADWATER_ROLES: "setup", HEADWATER_NATS_ACCOUNT: "shared", ...env }, directory.path));
}

describe("setup in an account that others have signed", () => {
  it("creates the streams", async () => {
    const { creds } = await nats.user("all");
    const env = await environmentWith("good", creds);
    await expect(setUpWith(env)).resolves.toBeUndefined();
    await expect(setUpWith(env)).resolves.toBeUndefined(); // Again, with its own streams in the account.
  });

  it("continues after a setup that was killed, in an account with no more room than it needs", async () => {
    const tight = await startForeignNats({ directory: join(directory.path, "tight"), limits: { disk_storage: 2 ** 30, streams: 16 } });
    const { creds } = await tight.user("all");
    const env = { ...(await environmentWith("tight", creds)), NATS_URL: tight.url };
    const connection = await connect({ server: { servers: tight.url, credentials: creds }, name: "test" });
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

  it("refuses a user that Headwater has not signed unless an account of others is chosen", async () => {
    const env = await environmentWith("unchosen", (await nats.user("all")).creds);
    await expect(givenNats(parseConfiguration(env))).rejects.toThrow(/has not signed: set HEADWATER_NATS_ACCOUNT/);
  });
});

describe("settings of an account that is shared", () => {
  it.each([
    [
      { HEADWATER_NATS_PREFIX: "team" },
      /HEADWATER_NATS_PREFIX is no longer a setting: give Headwater an account of NATS of its own.*"From a shared account"/,
    ],
    [
      { HEADWATER_NATS_ACCOUNT: "perRole" },
      /HEADWATER_NATS_ACCOUNT 'perRole' is invalid: must be own or shared: in an account of yours all roles have one user/,
    ],
  ])("are refused with what to do: %j", (settings, message) => {
    expect(() => parseConfiguration({ HEADWATER_NATS_ACCOUNT: "shared", NATS_URL: "nats://127.0.0.1:1", ...settings })).toThrow(message);
  });
});

describe("a role whose user is revoked", () => {
  it("says so in its readiness, and works again with a replaced file", async () => {
    const [operator, first, second] = await Promise.all([nats.user("all"), nats.user("all"), nats.user("all")]);
    const env = await environmentWith("rotated", operator.creds);
    await setUpWith(env);
    const credentials = join(directory.path, "credentials");
    await mkdir(credentials);
    const file = join(credentials, "nats.creds");
    await writeFile(file, first.creds);
    const health = `127.0.0.1:${await steadyPort()}`;
    const { child, output } = launch({
      ...env,
      HEADWATER_ROLES: "ingress",
      HEADWATER_NATS_ACCOUNT: "shared",
      HEADWATER_NATS_CREDENTIALS: file,
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
    const child = startClosingRole({ ...env, HEADWATER_ROLES: "ingress", HEADWATER_NATS_ACCOUNT: "shared" });
    const errors = child.stderr === null ? "" : text(child.stderr);
    const [code] = (await once(child, "exit")) as [number | null];
    expect(await errors).toContain("the client has closed the connection to NATS and does not connect again");
    expect(code).toBe(1);
  });
});
