import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { prepare } from "../../wiring/install/prepare.ts";
import { startForeignNats, type ForeignNats } from "../support/nats/foreign-nats.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { contextWithoutDatabase } from "./closing-role.ts";

type Environment = Readonly<Record<string, string>>;

/** An account of NATS that others have signed, for the test file that calls this at its top level. */
export function withAccountOfOthers() {
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
  return {
    get directory() {
      return directory.path;
    },
    get nats() {
      return nats;
    },
    /** Settings of a role with these credentials, which are stored in a file of this name. */
    async environmentWith(name: string, credentials: string, more: Environment = {}): Promise<Environment> {
      const file = join(directory.path, `${name}.creds`);
      await writeFile(file, credentials, { mode: 0o600 });
      return { NATS_URL: nats.url, HEADWATER_NATS_CREDENTIALS: file, HEADWATER_STORE_SIZE: "1Gi", ...more };
    },
    /** Setup, without tables. */
    async setUpWith(env: Environment): Promise<void> {
      await prepare(await contextWithoutDatabase({ HEADWATER_ROLES: "setup", HEADWATER_NATS_ACCOUNT: "shared", ...env }, directory.path));
    },
  };
}
