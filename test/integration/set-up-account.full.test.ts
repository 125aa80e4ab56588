import { once } from "node:events";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { launch } from "../support/system/headwater.ts";
import { steadyPort } from "../support/steady-port.ts";
import { withAccountOfOthers } from "./account-world.ts";
import { startClosingRole } from "./closing-role.ts";
import { until } from "../support/until.ts";

/** Roles as processes, in an account of NATS that others have signed. */
const world = withAccountOfOthers();
const { environmentWith, setUpWith } = world;

describe("a role whose user is revoked", () => {
  it("says so in its readiness, and works again with a replaced file", async () => {
    const [operator, first, second] = await Promise.all([world.nats.user("all"), world.nats.user("all"), world.nats.user("all")]);
    const env = await environmentWith("rotated", operator.creds);
    await setUpWith(env);
    const credentials = join(world.directory, "credentials");
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
      HEADWATER_DATA: join(world.directory, "data"),
    });
    const readiness = async (): Promise<{ readonly status: number; readonly text: string }> => {
      const response = await fetch(`http://${health}/readyz`).catch(() => undefined);
      return { status: response?.status ?? 0, text: (await response?.text()) ?? output() };
    };
    try {
      await until(async () => (await readiness()).status === 200, "the role is ready");
      await world.nats.revoke(first);
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
    const { creds } = await world.nats.user("all");
    const env = await environmentWith("closing", creds);
    await setUpWith(env);
    const child = startClosingRole({ ...env, HEADWATER_ROLES: "ingress", HEADWATER_NATS_ACCOUNT: "shared" });
    const errors = child.stderr === null ? "" : text(child.stderr);
    const [code] = (await once(child, "exit")) as [number | null];
    expect(await errors).toContain("the client has closed the connection to NATS and does not connect again");
    expect(code).toBe(1);
  });
});
