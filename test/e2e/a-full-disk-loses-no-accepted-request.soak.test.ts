import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSmallDisk, type SmallDisk } from "../support/small-disk.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { until } from "../support/until.ts";
import { expectHistory, expectOneIdEach, untilAccepted } from "./support/ledger.ts";
import { closeAgent, createPair, send, taken, type Answer, type Pair } from "./support/sources-with-endpoints.ts";

/** A publish without an ack times out after ten seconds. */
const patienceMs = 30_000;
/** A new Postgres takes about 60. */
const megabytes = 200;

const disk: SmallDisk | undefined = await startSmallDisk(megabytes);
let directory: TemporaryDirectory;
let headwater: Headwater;
let pair: Pair;

beforeAll(async () => {
  directory = await temporaryDirectory("full");
  if (disk === undefined) return;
  for (const server of ["nats", "postgres"]) {
    await mkdir(join(disk.path, server));
    await symlink(join(disk.path, server), join(directory.path, server));
  }
  headwater = await startHeadwater({
    dataDirectory: directory.path,
    env: { HEADWATER_KEEP_EVENTS: "100000", HEADWATER_DELIVERY_RETRY: "1s,1s,1s" },
  });
  pair = await createPair(headwater);
});
afterAll(async () => {
  if (disk !== undefined) {
    await headwater.stop();
    await pair.endpoint.close();
    await disk.remove();
  }
  await closeAgent();
  await directory.remove();
});

// The small disk needs a mount namespace, which some systems deny to users.
describe.skipIf(disk === undefined)("a full disk of nats-server and Postgres", () => {
  it("makes endpoints refuse requests, and once it has room again, every accepted request runs and is delivered", async () => {
    for (let n = 0; n < 20; n++) expect((await send(pair, `before${n}`))?.status).toBe(200);
    disk?.fill();
    const refusals: (Answer | undefined)[] = [];
    // The stream's current page may still have room for some.
    const ballast = "x".repeat(8_000);
    for (let n = 0; !refusals.some((answer) => answer?.status === 503); n++) {
      expect(n, "requests that a full disk took").toBeLessThan(50);
      refusals.push(await send(pair, `full${n}`, { ballast }, patienceMs));
    }
    refusals.push(...(await Promise.all(Array.from({ length: 10 }, (_, n) => send(pair, `together${n}`, { ballast }, patienceMs)))));
    const last = refusals.at(-1);
    expect(last?.status).toBe(503);
    expect(Number(last?.retryAfter)).toBeGreaterThan(0);
    expect(JSON.parse(last?.text ?? "")).toMatchObject({ code: "unavailable", error: expect.stringMatching(/stored/) });
    disk?.free();
    let number = 0;
    await until(async () => (await send(pair, `after${number++}`, {}, patienceMs))?.status === 200, "requests are accepted again", {
      more: headwater.output,
    });
    for (let n = 0; n < 20; n++) expect((await send(pair, `later${n}`))?.status).toBe(200);
    let names = taken(pair);
    await untilAccepted(pair, (name) => names.has(name) || (names = taken(pair)).has(name), "its endpoint");
    await expectHistory(headwater, pair);
    expectOneIdEach(pair);
  });
});
