import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { startProxy } from "../support/cuttable-proxy.ts";
import { missingPrograms } from "../support/on-path.ts";
import { startInTerminal } from "../support/terminal.ts";
import { hw, hwProcess, inherited, program, shell, startHwProcess, type World } from "./hw.ts";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();
/** A directory in which no Headwater is found. */
let elsewhere: World;
let source: { readonly id: string; readonly configured_props: { readonly http: { readonly endpoint_url: string } } };

const code = `export default {
  name: "Echo", props: { http: { type: "$.interface.http", customResponse: true } },
  run(event) { this.$emit(event.body, { summary: "number " + event.body?.n }); this.http.respond({ status: 200 }); },
};`;

const emit = async (n: number): Promise<void> => {
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(source.configured_props.http.endpoint_url, { method: "POST", headers, body: JSON.stringify({ n }) });
  expect(status).toBe(200);
};

beforeAll(async () => {
  const directory = join(headwater.world.directory, "..", `elsewhere-${process.pid}`);
  await mkdir(join(directory, "home"), { recursive: true });
  elsewhere = { directory, env: { HOME: join(directory, "home"), KUBECONFIG: join(directory, "none") } };
  const { body } = await headwater.call<{ data: typeof source }>("POST", "/sources", { component_code: code, name: "Echo" });
  source = body.data;
  await emit(1);
});

const baseUrl = (): string => headwater.apiUrl.replace(/\/v1$/, "");
const withKey = (key: string, url = baseUrl()): World => ({
  ...elsewhere,
  env: { ...elsewhere.env, HEADWATER_URL: url, HEADWATER_API_KEY: key },
});

describe("profiles", () => {
  it("are found in a parent directory, in the environment, or stored by login with mode 0600", async () => {
    await mkdir(join(headwater.world.directory, "deep", "er"), { recursive: true });
    const below = await hw({ ...headwater.world, directory: join(headwater.world.directory, "deep", "er") }, ["list", "-o", "name"]);
    expect(below).toMatchObject({ code: 0, stdout: `${source.id}\n` });
    expect((await hw(withKey(headwater.key), ["list", "-o", "name"])).stdout).toBe(`${source.id}\n`);
    expect(await hwProcess(elsewhere, ["login", "--url", baseUrl(), "--key-file", "-", "--profile", "work"], headwater.key)).toMatchObject({
      code: 0,
    });
    expect(
      await hwProcess(elsewhere, ["login", "--url", "http://127.0.0.1:9", "--key-file", "-", "--profile", "home"], headwater.key),
    ).toMatchObject({
      code: 5,
    });
    const file = join(elsewhere.directory, "home", ".config", "headwater", "config.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await hw(elsewhere, ["-p", "work", "list", "-o", "name"])).stdout).toBe(`${source.id}\n`);
    const profiles = await hw(elsewhere, ["profiles"]);
    expect(profiles.stdout).toContain("work");
    expect(profiles.stdout + profiles.stderr).not.toContain(headwater.key);
    expect((await hw(elsewhere, ["-p", "other", "list"])).code).toBe(2);
    expect(await hw(elsewhere, ["logout", "--profile", "work"])).toMatchObject({ code: 0 });
    expect(await readFile(file, "utf8")).not.toContain(headwater.key);
  });

  it("are missing with a hint", async () => {
    const { code: exit, stderr } = await hw(elsewhere, ["list"]);
    expect([exit, stderr]).toEqual([5, expect.stringContaining("hw login")]);
  });

  it("that are damaged name their file", async () => {
    const folder = join(elsewhere.directory, "damaged", "headwater");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "config.json"), "{", { mode: 0o600 });
    const { code: exit, stderr } = await hw({ ...elsewhere, env: { ...elsewhere.env, XDG_CONFIG_HOME: join(folder, "..") } }, ["list"]);
    expect([exit, stderr]).toEqual([1, expect.stringContaining(join(folder, "config.json"))]);
  });
});

describe("faults", () => {
  it("have an exit code of their own, one sentence and a hint, and no stack trace", async () => {
    const { body } = await headwater.call<{ data: { key: string } }>("POST", "/users/me/keys", { name: "reader", scopes: ["read"] });
    const { body: expiring } = await headwater.call<{ data: { key: string; id: string } }>("POST", "/users/me/keys", { name: "gone" });
    await headwater.call("DELETE", `/users/me/keys/${expiring.data.id}`);
    const cases = [
      [withKey(headwater.key, "http://127.0.0.1:9"), ["list"], 5],
      [withKey("wrong"), ["list"], 4],
      [withKey(expiring.data.key), ["list"], 4],
      [withKey(body.data.key), ["pause", source.id], 4],
      [withKey(headwater.key), ["describe", "dc_unknown"], 3],
      [withKey(headwater.key), ["events", "no-such-name"], 3],
      [withKey(headwater.key), ["delete", source.id], 2],
    ] as const;
    for (const [world, args, exit] of cases) {
      const { code: ended, stderr } = await hw(world, args);
      expect([args, ended]).toEqual([args, exit]);
      expect(stderr).toMatch(/^hw: .+\n( {4}.+\n)?$/);
    }
  });

  it("of a server without the operation say that it is too old", async () => {
    const old: Server = createServer((_request, response) => {
      response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ error: "no", code: "no_such_route" }));
    });
    await new Promise<void>((resolve) => old.listen(0, "127.0.0.1", resolve));
    const { port } = old.address() as AddressInfo; // Listening on TCP.
    const { code: exit, stderr } = await hw(withKey("key", `http://127.0.0.1:${port}`), ["list"]);
    expect([exit, stderr]).toEqual([1, expect.stringContaining("the server is too old")]);
    old.close();
  });

  it("of a closed pipe end the program silently", async () => {
    const {
      code: exit,
      stdout,
      stderr,
    } = await shell(withKey(headwater.key), "set -o pipefail; hw api GET /v1/openapi.json | head -c 1; true");
    expect([exit, stdout.length, stderr]).toEqual([0, 1, ""]);
  });
});

describe("ids", () => {
  it("may be a name, a slug or the beginning of an id", async () => {
    for (const name of ["echo", "Echo", source.id.slice(0, 8)]) {
      const { stdout } = await hw(withKey(headwater.key), ["describe", name, "-o", "json"]);
      expect([name, (JSON.parse(stdout) as { readonly data: { readonly id: string } }).data.id]).toEqual([name, source.id]);
    }
  });
});

describe("following events", () => {
  it("continues behind the last event after a lost connection, and ends with 130 at SIGINT", async () => {
    const proxy = await startProxy(Number(new URL(headwater.apiUrl).port));
    const following = startHwProcess(withKey(headwater.key, `http://127.0.0.1:${proxy.port}`), ["events", source.id, "-f", "-o", "json"]);
    let n = 100;
    // It shows events from when it is connected.
    const isFollowing = async (): Promise<boolean> => {
      if (following.stdout() === "") await emit(n++);
      return following.stdout() !== "";
    };
    await until(isFollowing, "it shows an event", { more: following.stderr });
    proxy.cut();
    await emit(1_000);
    await emit(1_001);
    await following.untilPrinted(/"n":1001/);
    following.interrupt();
    const { code: exit, stderr, stdout } = await following.ended();
    expect(exit).toBe(130);
    expect(stderr).not.toMatch(/at .*:\d+/);
    const shown = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { readonly event: { readonly n: number } }).event.n);
    expect(shown.slice(-2)).toEqual([1_000, 1_001]);
    await proxy.close();
  });
});

describe.skipIf(missingPrograms(["python3"]).length > 0)("in a terminal", () => {
  const inTerminal = (args: readonly string[], columns: number) =>
    startInTerminal([process.execPath, program, ...args], {
      cwd: elsewhere.directory,
      env: { ...inherited(), ...withKey(headwater.key).env },
      columns,
    });

  it("of 60 columns no line of a table is wider", async () => {
    const list = inTerminal(["list"], 60);
    await list.untilShown(/echo/);
    expect(await list.ended()).toBe(0);
    for (const line of list.screen().split(/\r?\n/)) expect(line.length).toBeLessThanOrEqual(60);
  });

  it("a deletion asks first, and a refusal deletes nothing", async () => {
    const deletion = inTerminal(["delete", source.id], 100);
    await until(() => deletion.screen().includes("Echo") || deletion.screen().includes(source.id), "it asks", { more: deletion.screen });
    deletion.type("n");
    deletion.type("\r");
    await deletion.ended();
    expect((await headwater.call("GET", `/sources/${source.id}`)).status).toBe(200);
  });

  it("colours appear, and not with NO_COLOR or in a pipe", async () => {
    // oxlint-disable-next-line no-control-regex -- Control sequences begin with one.
    const colour = /\u001b\[\d+m/;
    expect((await hw(withKey(headwater.key), ["list"])).stdout).not.toMatch(colour);
    const { stdout } = await hw({ ...withKey(headwater.key), env: { ...withKey(headwater.key).env, NO_COLOR: "1" } }, ["list"]);
    expect(stdout).not.toMatch(colour);
  });
});

describe("completion", () => {
  it("is a script that bash accepts, and completes commands", async () => {
    const { code: exit, stdout } = await shell(withKey(headwater.key), 'eval "$(hw completion bash)"; complete -p hw');
    expect([exit, stdout]).toEqual([0, expect.stringContaining("hw")]);
  });
});

describe("the version", () => {
  it("is printed by hw version and by --version", async () => {
    const { stdout } = await hw(elsewhere, ["--version"]);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
