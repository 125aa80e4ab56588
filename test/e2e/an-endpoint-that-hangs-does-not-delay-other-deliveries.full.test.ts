import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster } from "../support/system/cluster.ts";
import { until } from "../support/until.ts";
import { closeAgent, createPair, idsHeard, send, taken, type Pair } from "./support/sources-with-endpoints.ts";

const pairs: Pair[] = [];
let directory: TemporaryDirectory;
let cluster: Cluster;

beforeAll(async () => {
  directory = await temporaryDirectory("holding");
  cluster = await startCluster(directory.path);
  for (let n = 0; n < 4; n++) pairs.push(await createPair(cluster));
});
afterAll(async () => {
  await cluster.stop();
  await Promise.all(pairs.map(({ endpoint }) => endpoint.close()));
  await closeAgent();
  await directory.remove();
});

const heldIn = ({ endpoint }: Pair) => endpoint.heard.filter(({ endedAt }) => endedAt === undefined);
/** Kills both delivery processes in turn: each has requests of its own partitions open. */
async function killDelivery(): Promise<void> {
  await cluster.kill("delivery");
  await cluster.kill("delivery");
}
const unrouted = () => cluster.backlog().then((backlog) => backlog?.unrouted);

describe("delivery, killed with -9 while endpoints hold its requests", () => {
  it("repeats each attempt after the restart, under the same id", async () => {
    for (const { endpoint } of pairs) endpoint.behave(() => "hangs");
    for (let n = 0; n < 20; n++) for (const pair of pairs) await send(pair, `q${n}`);
    expect(pairs.map(({ accepted }) => accepted.size)).toEqual(pairs.map(() => 20));
    // First attempts of the run: only the floor of the stream protects them.
    await until(() => pairs.every((pair) => heldIn(pair).length > 0), "each endpoint holds a request");
    const cut = pairs.flatMap((pair) => heldIn(pair).map((one) => ({ pair, one })));
    await killDelivery();
    await until(() => cut.every(({ one }) => one.endedAt !== undefined), "the open requests end");
    // Now some deliveries have messages of their own.
    await until(() => pairs.every((pair) => heldIn(pair).length > 3), "each endpoint holds several");
    cut.push(...pairs.flatMap((pair) => heldIn(pair).map((one) => ({ pair, one }))));
    await killDelivery();
    for (const { endpoint } of pairs) endpoint.behave(() => "answers");
    await until(
      () => pairs.every((pair) => [...pair.accepted].every((name) => taken(pair).has(name))),
      "the endpoint has accepted each event",
    );
    for (const { pair, one } of cut) {
      const same = pair.endpoint.heard.filter(({ request }) => request === one.request);
      expect(same.length, "the request is repeated").toBeGreaterThan(1);
    }
    for (const pair of pairs) for (const ids of idsHeard(pair).values()) expect(ids.size).toBe(1);
  });
});

describe("an endpoint that answers after 14 of its 15 seconds", () => {
  it("holds back the floor of the stream for a few seconds only, even when its source emits 240 events at once", async () => {
    const [slow, other] = pairs;
    if (slow === undefined || other === undefined) throw new Error("there are no sources");
    await until(async () => (await unrouted()) === 0, "all earlier events are routed");
    const before = slow.endpoint.heard.length;
    slow.endpoint.behave(() => "answers late");
    // At one second each they would take four minutes.
    const events = 240;
    await send(slow, "many", { events });
    await until(() => slow.endpoint.heard.length > before, "the first delivery has started");
    await send(other, "other");
    await until(() => taken(other).has("other"), "another endpoint receives its event in the meantime");
    await until(async () => (await unrouted()) === 0, "the floor has passed its events");
    slow.endpoint.behave(() => "answers");
    const names = ["many", ...Array.from({ length: events - 1 }, (_, index) => `many+${index + 1}`)];
    await until(() => names.every((name) => taken(slow).has(name)), "the endpoint has accepted each event");
    for (const ids of idsHeard(slow).values()) expect(ids.size).toBe(1);
  });
});
