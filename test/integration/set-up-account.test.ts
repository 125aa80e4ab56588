import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { areSetUp } from "../../platform/jetstream/streams/streams.ts";
import { givenNats } from "../../platform/process/nats/given-nats.ts";
import { parseConfiguration } from "../../platform/process/settings/configuration.ts";
import { startForeignNats } from "../support/nats/foreign-nats.ts";
import { withAccountOfOthers } from "./account-world.ts";

const world = withAccountOfOthers();
const { environmentWith, setUpWith } = world;

describe("setup in an account that others have signed", () => {
  it("creates the streams", async () => {
    const { creds } = await world.nats.user("all");
    const env = await environmentWith("good", creds);
    await expect(setUpWith(env)).resolves.toBeUndefined();
    await expect(setUpWith(env)).resolves.toBeUndefined(); // Again, with its own streams in the account.
  });

  it("continues after a setup that was killed, in an account with no more room than it needs", async () => {
    const tight = await startForeignNats({ directory: join(world.directory, "tight"), limits: { disk_storage: 2 ** 30, streams: 16 } });
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
    const { creds } = await world.nats.user("all");
    const env = await environmentWith("large", creds, { HEADWATER_STORE_SIZE: "4Gi" });
    await expect(setUpWith(env)).rejects.toThrow(
      /^the account of NATS is too small: its storage limit leaves \d+ bytes, and the streams need 4294967296 with/,
    );
  });

  it("refuses a user that Headwater has not signed unless an account of others is chosen", async () => {
    const env = await environmentWith("unchosen", (await world.nats.user("all")).creds);
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
