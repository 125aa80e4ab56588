import { expect, it, vi } from "vitest";
import { HandedOver } from "../../../delivery/routing/handed-over.ts";
import { maxProcessedEvents } from "../../../domain/event/processed-events.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The first publication ends when the test calls `end`, all others succeed at once. */
function handedOver() {
  const stopping = new AbortController();
  const first = Promise.withResolvers<boolean>();
  const publish = vi.fn<() => Promise<boolean>>(() => Promise.resolve(true)).mockReturnValueOnce(first.promise);
  return { events: new HandedOver(publish, stopping.signal), publish, end: first.resolve, stopping };
}

/** Hands over commits of one event each, one after the other, and counts those that were admitted. */
function handOver(events: HandedOver, listener: string, count: number): { admitted: number } {
  const seen = { admitted: 0 };
  void (async () => {
    for (let commit = 1; commit <= count; commit++) {
      await events.admit(listener, commit);
      seen.admitted++;
    }
  })();
  return seen;
}

it("hands over fewer events than a source remembers while a publication of floors does not end", async () => {
  const { events, publish } = handedOver();
  const seen = handOver(events, "dc_1", 1_000);
  await vi.waitFor(() => expect(publish).toHaveBeenCalledTimes(1), { timeout: 120_000 });
  for (let n = 0; n < 100; n++) await turn();
  expect(seen.admitted).toBeGreaterThan(0);
  expect(seen.admitted).toBeLessThan(maxProcessedEvents / 2);
  for (let commit = 1; commit <= 10; commit++) await events.admit("dc_2", commit);
});

it("continues once the floors are published, and repeats a publication that failed", async () => {
  const { events, publish, end } = handedOver();
  const seen = handOver(events, "dc_1", 1_000);
  end(false);
  await vi.waitFor(() => expect(seen.admitted).toBe(1_000), { timeout: 120_000 });
  expect(publish.mock.calls.length).toBeGreaterThan(1_000 / maxProcessedEvents);
});

it("does not let the events of one commit wait for one another, but those of the next commit", async () => {
  const { events, end } = handedOver();
  for (let n = 0; n < 1_000; n++) await events.admit("dc_1", 1);
  let isAdmitted = false;
  const next = events.admit("dc_1", 2).then(() => (isAdmitted = true));
  for (let n = 0; n < 100; n++) await turn();
  expect(isAdmitted).toBe(false);
  end(true);
  await next;
});

it("stops waiting when delivery stops", async () => {
  const { events, end, stopping } = handedOver();
  for (let n = 0; n < 1_000; n++) await events.admit("dc_1", 1);
  const refused = events.admit("dc_1", 2).catch((error: unknown) => error);
  await turn();
  stopping.abort(new Error("stopped"));
  end(false);
  expect(await refused).toEqual(new Error("stopped"));
});
