import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { launch, startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { until } from "../support/until.ts";
import { mainOf, processesOf } from "../support/process-tree.ts";

let directory: TemporaryDirectory;
let taken: Server;
let takenAddress: string;

beforeAll(async () => {
  directory = await temporaryDirectory("starts");
  taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  takenAddress = `127.0.0.1:${(taken.address() as AddressInfo).port}`; // Listening on TCP.
});
afterAll(async () => {
  taken.close();
  await directory.remove();
});

interface Failed {
  readonly code: number | null;
  readonly output: string;
}

/** Default settings of a start; each case overrides some of them. */
const settingsFor = (data: string): Readonly<Record<string, string>> => ({
  HEADWATER_DATA: data,
  HEADWATER_LISTEN: "127.0.0.1:0",
  HEADWATER_INGRESS_LISTEN: "127.0.0.1:0",
  HEADWATER_LOG_LEVEL: "error",
});

/** Runs `npm start` with these settings until it exits. */
async function failedStart(data: string, env: Readonly<Record<string, string>>): Promise<Failed> {
  const { child, output } = launch({ ...settingsFor(data), ...env });
  await until(() => child.exitCode !== null || child.signalCode !== null, "the start gives up", { more: output });
  return { code: child.exitCode, output: output() };
}

/** Name, settings, pattern of the printed line. */
const starts: readonly (readonly [string, () => Readonly<Record<string, string>>, RegExp])[] = [
  [
    "the API's port is in use",
    () => ({ HEADWATER_LISTEN: takenAddress }),
    /^cannot listen on 127.*another process listens there.*HEADWATER_LISTEN/,
  ],
  ["the endpoints' port is in use", () => ({ HEADWATER_INGRESS_LISTEN: takenAddress }), /^cannot listen on 127.*HEADWATER_INGRESS_LISTEN/],
  [
    "the listen address belongs to another machine",
    () => ({ HEADWATER_LISTEN: "203.0.113.7:3000" }),
    /^cannot listen on 203\.0\.113\.7:3000.*HEADWATER_LISTEN/,
  ],
  [
    "the data directory cannot be created",
    () => ({ HEADWATER_DATA: "/proc/headwater" }),
    /^the data directory \/proc\/headwater cannot be written.*HEADWATER_DATA/,
  ],
  [
    "Postgres does not answer",
    () => ({ DATABASE_URL: "postgres://me:topsecret@127.0.0.1:1/mine" }),
    /^cannot use Postgres at 127\.0\.0\.1:1\/mine.*DATABASE_URL/,
  ],
  ["the Postgres URL is invalid", () => ({ DATABASE_URL: "topsecret" }), /^DATABASE_URL is invalid: must be postgres:\/\//],
  [
    "NATS does not answer",
    () => ({ NATS_URL: "nats://me:topsecret@127.0.0.1:1" }),
    /^cannot connect to NATS at nats:\/\/127\.0\.0\.1:1.*NATS_URL/,
  ],
  ["the NATS URL is invalid", () => ({ NATS_URL: "https://topsecret@example.com" }), /^NATS_URL is invalid: must be nats:\/\//],
  [
    "a setting does not exist",
    () => ({ HEADWATER_LISTN: "127.0.0.1:1" }),
    /^HEADWATER_LISTN is not a setting: did you mean HEADWATER_LISTEN\?/,
  ],
];

describe("a start that cannot succeed", () => {
  it.concurrent.each(starts)("prints the reason in one line and leaves no process running when %s", async (what, settings, says) => {
    const data = join(directory.path, `never ${what}`.replaceAll(" ", "-"));
    const { code, output } = await failedStart(data, settings());
    expect(output.trim()).toMatch(says);
    expect(output.trim().split("\n"), output).toHaveLength(1);
    expect(output).not.toContain("topsecret");
    expect(code).toBe(1);
    expect(processesOf(data)).toEqual([]);
  });

  it("reports both ports when both are in use", async () => {
    const { code, output } = await failedStart(join(directory.path, "ports"), {
      HEADWATER_LISTEN: takenAddress,
      HEADWATER_INGRESS_LISTEN: takenAddress,
    });
    const lines = [/^cannot listen on 127.* set HEADWATER_LISTEN /, /^cannot listen on 127.* set HEADWATER_INGRESS_LISTEN /];
    expect(output.trim().split("\n")).toEqual(lines.map((line) => expect.stringMatching(line) as string));
    expect(code).toBe(1);
  });

  it("rejects a key file with invalid content", async () => {
    const data = join(directory.path, "damaged");
    await mkdir(data);
    await writeFile(join(data, "api-key"), "hunter2\n");
    const { code, output } = await failedStart(data, {});
    expect(output.trim()).toMatch(/api-key holds no API key .* remove the file/);
    expect(output).not.toContain("hunter2");
    expect(code).toBe(1);
    expect(processesOf(data)).toEqual([]);
  });

  it("ends at once, with all processes it has started, when it is stopped while starting", async () => {
    const data = join(directory.path, "impatient");
    const { child } = launch(settingsFor(data));
    await until(() => processesOf(data).some(({ command }) => /nats-server|postgres|initdb/.test(command)), "servers are started");
    child.kill("SIGINT");
    await until(() => child.exitCode !== null && processesOf(data).length === 0, "every process ends", {
      more: () => JSON.stringify(processesOf(data)),
    });
    expect(child.exitCode).toBe(130);
  });
});

describe("a second start on the same data", () => {
  let first: Headwater;
  beforeAll(async () => {
    first = await startHeadwater({ dataDirectory: join(directory.path, "shared") });
  });
  afterAll(async () => {
    expect(await first.stop()).toBe(0);
  });

  it("names the process that holds the directory, and does not disturb it", async () => {
    const before = processesOf(first.dataDirectory).map(({ pid }) => pid);
    const { code, output } = await failedStart(first.dataDirectory, {
      HEADWATER_LISTEN: `127.0.0.1:${await steadyPort()}`,
    });
    expect(output).toContain(`in use by process ${mainOf(first.dataDirectory)}, which serves ${first.apiUrl.replace("/v1", "")}`);
    expect(code).toBe(1);
    expect((await first.call("GET", "/users/me")).status).toBe(200);
    expect(before.filter((pid) => !processesOf(first.dataDirectory).some((now) => now.pid === pid))).toEqual([]);
    expect(await readFile(join(first.dataDirectory, "lock"), "utf8")).toContain(String(mainOf(first.dataDirectory)));
  });
});
