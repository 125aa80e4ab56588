import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { ada } from "./support.ts";
import { commitOf, openStream, withStreamingApi, type OpenStream } from "./streams-support.ts";
import { committedEvent as event } from "../committed-event.ts";
import { until } from "../../support/until.ts";

const { api, world } = withStreamingApi({ keepAliveMs: 60_000, waitingBytes: 2 ** 20 });
let source = "";
/** All that were ever sent to RUNS, in order, and how many of them it has acknowledged. */
const ids: string[] = ["1-0"];
let acknowledged = 0;

beforeAll(async () => {
  source = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Emitter" } })).body.data.id;
  await publish([]);
});

async function publish(fresh: readonly string[]): Promise<void> {
  ids.push(...fresh);
  const all = fresh.length === 0 ? ids : fresh;
  await world.commit(
    commitOf(
      source,
      ada.id,
      all.map((id) => event(id)),
    ),
  );
  acknowledged = ids.length;
}

const fresh = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `${ids.length + index + 1}-0`);

/** Within what the history keeps, which is 100 events: so far back, and no more than 36 in a round. */
const starts = fc.oneof(
  fc.record({ kind: fc.constant("after" as const), back: fc.nat(20) }),
  fc.record({ kind: fc.constant("last" as const), count: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ kind: fc.constant("now" as const) }),
);
const rounds = fc.record({
  commits: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 4, maxLength: 12 }),
  recorded: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 }),
  readers: fc.array(fc.record({ start: starts, behindCommit: fc.nat(11) }), { minLength: 4, maxLength: 4 }),
});
type Start = typeof starts extends fc.Arbitrary<infer T> ? T : never;

interface Opened {
  readonly stream: OpenStream;
  /** Places in {@link ids}, from the earliest to the latest, that it may begin with. */
  readonly begins: readonly [number, number];
}

/** @param heard so many of {@link ids} the API's reader of RUNS has passed for certain */
async function openAt(start: Start, heard: number): Promise<Opened> {
  const cut = start.kind === "after" ? Math.max(0, acknowledged - 1 - start.back) : 0;
  const query = start.kind === "last" ? `?replay=${start.count}` : "";
  const headers = start.kind === "after" ? { "last-event-id": ids[cut] ?? "" } : {};
  const stream = await openStream(api.url, `/v1/sources/${source}/sse${query}`, { headers });
  const back = start.kind === "last" ? start.count : 0;
  const lastOf = (count: number): number => Math.max(0, count - back);
  return { stream, begins: start.kind === "after" ? [cut + 1, cut + 1] : [lastOf(heard), lastOf(ids.length)] };
}

/**
 * Method: commits follow one another, and so does what the recorder takes of them, at its own pace; in the midst of it readers come, who
 * want what is new, the last few, or what is behind an event. The oracle is the list of all events: a reader sees an unbroken piece
 * of it up to its end, which begins behind the event it named, else somewhere between what was last before the round and when it was answered.
 */
it("misses and repeats no event between history and live stream", async () => {
  await fc.assert(
    fc.asyncProperty(rounds, async ({ commits, recorded, readers }) => {
      const coming: Promise<Opened>[] = [];
      const heard = ids.length;
      const recording = (async () => {
        for (const most of recorded) await world.record(most);
      })();
      for (const [place, size] of commits.entries()) {
        const now = readers.filter(({ behindCommit }) => behindCommit % commits.length === place);
        coming.push(...now.map(({ start }) => openAt(start, heard)));
        await publish(fresh(size));
      }
      const opened = await Promise.all(coming);
      await recording;
      await publish(fresh(1));
      for (const { stream, begins } of opened) {
        await until(() => stream.ids().at(-1) === ids.at(-1), `${ids.at(-1)} after ${stream.ids().join()}`);
        const first = ids.indexOf(stream.ids()[0] ?? "");
        expect(stream.ids()).toEqual(ids.slice(first));
        expect(first).toBeGreaterThanOrEqual(begins[0]);
        expect(first).toBeLessThanOrEqual(begins[1]);
        stream.close();
      }
      await world.record();
    }),
    { numRuns: 60, endOnFailure: true },
  );
});
