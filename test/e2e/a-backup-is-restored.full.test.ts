import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../platform/jetstream/connection/connection.ts";
import { adminCredentials, backupCredentials } from "../../platform/process/nats/nats-accounts.ts";
import { natsKeysOf, storedNatsRoot, type NatsKeys } from "../../platform/process/nats/nats-keys.ts";
import { withPostgres } from "../support/postgres.ts";
import { startSmallDisk } from "../support/small-disk.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { until } from "../support/until.ts";
import { startNatsServers, type NatsServers } from "../support/nats/nats-servers.ts";
import { closeAgent, createPair, eventsOf, idsHeard, relay, send, taken, type Pair } from "./support/sources-with-endpoints.ts";

/**
 * `npm start` with a Postgres and a NATS of its own is backed up under load and lost. The backup is restored into empty servers, after a
 * kill in the middle, and the installation runs on.
 */
const root = join(import.meta.dirname, "..", "..");
const [former, next] = [withPostgres(), withPostgres()];

let directory: TemporaryDirectory;
let keys: NatsKeys;
let servers: { readonly former: NatsServers; readonly next: NatsServers };
let ports: { readonly api: number; readonly ingress: number };
const pairs: Pair[] = [];
let headwater: Headwater;
let backup: string;
/** Requests that were accepted, and those whose events were delivered, when the backup began. */
const before: { readonly accepted: Set<string>; readonly delivered: ReadonlyMap<string, ReadonlySet<string>> }[] = [];

type Place = "former" | "next";
const environmentOf = (place: Place): Readonly<Record<string, string>> => ({
  HEADWATER_DATA: join(directory.path, place),
  HEADWATER_KEYS: join(directory.path, "keys"),
  NATS_URL: servers[place].connection().servers,
  HEADWATER_NATS_CREDENTIALS: join(directory.path, "admin.creds"),
  DATABASE_URL: (place === "former" ? former : next).url,
  HEADWATER_KEEP_EVENTS: "100000",
  HEADWATER_DELIVERY_RETRY: "500ms,1s,2s,4s,8s,16s",
});

const start = (place: Place): Promise<Headwater> =>
  startHeadwater({ dataDirectory: join(directory.path, place), ports, env: environmentOf(place) });

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** As in a cluster, a backup has its own user of NATS. */
const backupUser = (): Readonly<Record<string, string>> => ({ HEADWATER_NATS_CREDENTIALS: join(directory.path, "backup.creds") });

/** Runs a command of main.ts. @param killAt kills it when it prints this */
async function command(place: Place, args: readonly string[], killAt?: string): Promise<Ended> {
  const child = spawn(process.execPath, [join(root, "main.ts"), ...args], {
    cwd: root,
    env: { ...process.env, ...environmentOf(place), ...(args[0] === "--backup" ? backupUser() : {}) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const add = (chunk: Buffer): void => {
    output += chunk.toString();
    if (killAt !== undefined && output.includes(killAt)) child.kill("SIGKILL");
  };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", add);
  await once(child, "close");
  return { code: child.exitCode, output };
}

async function streamsOf(place: Place): Promise<readonly string[]> {
  const connection = await connect({ server: servers[place].connection(), name: "test" });
  const names: string[] = [];
  for await (const { config } of connection.manager.streams.list()) names.push(config.name);
  await connection.close();
  return names;
}

/** Requests one after the other for each pair, until it is stopped. */
function load(): { stop(): Promise<void> } {
  let stopped = false;
  const requests = async (pair: Pair): Promise<void> => {
    for (let n = 0; !stopped; n++) await send(pair, `${pair.source}-${n}`);
  };
  const running = Promise.all(pairs.flatMap((pair) => [requests(pair)]));
  return {
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}

const everyRequest = (isThere: (pair: Pair, request: string) => boolean): boolean =>
  pairs.every((pair) => [...pair.accepted].every((request) => isThere(pair, request)));

beforeAll(async () => {
  directory = await temporaryDirectory("backup");
  keys = natsKeysOf(await storedNatsRoot(join(directory.path, "nats.root")));
  await writeFile(join(directory.path, "admin.creds"), await adminCredentials(keys));
  await writeFile(join(directory.path, "backup.creds"), await backupCredentials(keys));
  const [one, other] = [
    await startNatsServers(join(directory.path, "one"), keys),
    await startNatsServers(join(directory.path, "other"), keys),
  ];
  servers = { former: one, next: other };
  ports = { api: await steadyPort(), ingress: await steadyPort() };
  headwater = await start("former");
  pairs.push(await createPair(headwater), await createPair(headwater, relay), await createPair(headwater, undefined, { ordered: true }));
});
afterAll(async () => {
  await headwater.stop();
  await Promise.all(pairs.map(({ endpoint }) => endpoint.close()));
  await closeAgent();
  await Promise.all([servers.former.stop(), servers.next.stop()]);
  await directory.remove();
});

describe("a backup", () => {
  it("is saved under load", async () => {
    // Its deliveries wait for their retries when the backup begins.
    const failing = pairs[0];
    failing?.endpoint.behave(() => "fails");
    const loading = load();
    await until(() => pairs.every(({ accepted }) => accepted.size > 100), "requests are accepted", { more: headwater.output });
    for (const pair of pairs) before.push({ accepted: new Set(pair.accepted), delivered: idsHeard(pair) });
    const saved = await command("former", ["--backup", join(directory.path, "backups"), "--keep", "1"]);
    expect(saved.code, saved.output).toBe(0);
    const [name = ""] = await readdir(join(directory.path, "backups"));
    backup = join(directory.path, "backups", name);
    await loading.stop();
    failing?.endpoint.behave(() => "answers");
    await until(() => everyRequest((pair, request) => taken(pair).has(request)), "all events are delivered", { more: headwater.output });
  });

  it("is sealed: neither keys nor contents can be read", async () => {
    for (const name of await readdir(backup)) {
      const content = await readFile(join(backup, name), "latin1");
      for (const secret of [headwater.key, pairs[0]?.endpointUrl ?? "", "export default", "local@localhost"])
        expect(content.includes(secret), `${name} shows ${secret}`).toBe(false);
    }
  });

  it("is the only one that is kept with --keep 1, and leaves no incomplete one", async () => {
    const again = await command("former", ["--backup", join(directory.path, "backups"), "--keep", "2"]);
    expect(again.code, again.output).toBe(0);
    const other = await command("former", ["--backup", join(directory.path, "second"), "--keep", "1"]);
    expect(other.code, other.output).toBe(0);
    const last = await command("former", ["--backup", join(directory.path, "second"), "--keep", "1"]);
    expect(last.output).toContain("1 older ones are removed");
    expect(await readdir(join(directory.path, "second"))).toHaveLength(1);
  });

  it("is not saved to a full disk, and nothing is left there", async ({ skip }) => {
    const disk = await startSmallDisk(1);
    if (disk === undefined) return skip("a small file system cannot be mounted here");
    disk.fill();
    const refused = await command("former", ["--backup", disk.path]);
    const left = (await readdir(disk.path)).filter((name) => name !== "filler");
    await disk.remove();
    expect(refused.code).toBe(1);
    expect(refused.output).toContain("the disk is full");
    expect(left).toEqual([]);
  });

  it.each([
    [
      "damaged",
      "stream-RUNS",
      // Another byte for any byte that stands there.
      (content: Buffer) => content.fill(~(content[content.length >> 1] ?? 0) & 0xff, content.length >> 1, (content.length >> 1) + 1),
      "stream-RUNS of the backup is damaged",
    ],
    [
      "truncated",
      "table-events",
      (content: Buffer) => content.subarray(0, content.length - 10),
      "table-events of the backup is damaged or incomplete",
    ],
    ["newer", "backup.json", (content: Buffer) => Buffer.from(content.toString().replace('"format":1', '"format":2')), "has format 2"],
  ])("that is %s is refused before anything is restored", async (kind, file, change, message) => {
    const copy = join(directory.path, `copy-${kind}`);
    await cp(backup, copy, { recursive: true });
    await writeFile(join(copy, file), change(await readFile(join(copy, file))));
    const refused = await command("next", ["--restore", copy]);
    expect(refused.code, refused.output).toBe(1);
    expect(refused.output).toContain(message);
    expect(await streamsOf("next")).toEqual([]);
  });

  it("is not restored where an installation exists", async () => {
    const refused = await command("former", ["--restore", backup]);
    expect(refused.code).toBe(1);
    expect(refused.output).toContain("NATS has a stream");
  });

  it("is restored into empty servers, also after a kill, and once", async () => {
    expect(await headwater.stop()).toBe(0);
    for (const killAt of ["table-runs is being restored", "stream-RUNS is being restored", "stream-DELIVERIES is being restored"]) {
      const killed = await command("next", ["--restore", backup], killAt);
      expect(killed.code, killed.output).toBeNull();
    }
    const restored = await command("next", ["--restore", backup]);
    expect(restored.code, restored.output).toBe(0);
    const again = await command("next", ["--restore", backup]);
    expect(again.output).toContain("already: nothing to do");
  });
});

describe("the restored installation", () => {
  beforeAll(async () => {
    await cp(join(directory.path, "former", "api-key"), join(directory.path, "next", "api-key"));
    headwater = await start("next");
  });

  it("has run each request once that was accepted before the backup, on the state before, and delivers its event", async () => {
    for (const [index, pair] of pairs.entries()) {
      const accepted = before[index]?.accepted ?? new Set();
      let requests: readonly string[] = [];
      const isRun = async (): Promise<boolean> => {
        requests = (await eventsOf(headwater, pair.heardSource)).map(({ request }) => request);
        return [...accepted].every((request) => requests.includes(request));
      };
      await until(isRun, "all accepted requests are run", { more: headwater.output });
      expect(new Set(requests).size).toBe(requests.length);
      const counts = (await eventsOf(headwater, pair.source)).map(({ n }) => n);
      expect(counts).toEqual(counts.map((_, position) => counts.length - position));
      await until(() => [...accepted].every((request) => taken(pair).has(request)), "each is delivered", { more: headwater.output });
    }
  });

  it("delivers no event again under another webhook-id", () => {
    for (const [index, pair] of pairs.entries())
      for (const [request, ids] of before[index]?.delivered ?? []) expect(idsHeard(pair).get(request), request).toEqual(ids);
  });

  it("runs new requests", async () => {
    for (const pair of pairs) {
      expect((await send(pair, "after the restore"))?.status).toBe(200);
      await until(() => taken(pair).has("after the restore"), "its event is delivered", { more: headwater.output });
    }
  });
});
