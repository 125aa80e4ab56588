import { describe, expect, it } from "vitest";
import { newQueueState } from "../../../domain/delivery/ordered-queue.ts";
import { createOrderedQueueStore } from "../../../platform/jetstream/deliveries/ordered-queues.ts";
import { until, withJetStream } from "./support.ts";

const streams = withJetStream();

describe("the queues of ordered webhooks", () => {
  it("append a message only if the expected message is the last", async () => {
    const queues = createOrderedQueueStore(streams.connection);
    const one = await queues.append("wh_1", "one", 0);
    expect(await queues.append("wh_1", "another", 0)).toBeUndefined();
    await queues.append("wh_2", "beside", 0);
    const two = await queues.append("wh_1", "two", one ?? 0);
    expect(await queues.findLast("wh_1")).toEqual({ seq: two, text: "two" });
    expect(await queues.findNext("wh_1", 1)).toEqual({ seq: one, text: "one" });
    expect(await queues.findNext("wh_1", (one ?? 0) + 1)).toEqual({ seq: two, text: "two" });
    expect(await queues.findNext("wh_1", (two ?? 0) + 1)).toBeUndefined();
    expect(await queues.findLast("wh_3")).toBeUndefined();
  });

  it("keep their position across a crash of the server, until they are removed", async () => {
    const queues = createOrderedQueueStore(streams.connection);
    const { stream } = await queues.load();
    const state = { ...newQueueState(stream), seq: 4, number: 2, upTo: { stream: "runs", seq: 7 } };
    await queues.saveState("wh_1", state);
    await queues.saveState("wh_4", state);
    await streams.server.crash();
    // The server may have lost the last request with the connection.
    await until(
      () =>
        queues.load().then(
          () => true,
          () => false,
        ),
      "the server answers",
    );
    const loaded = await queues.load();
    expect([loaded.stream, loaded.stored.toSorted()]).toEqual([stream, ["wh_1", "wh_2"]]);
    expect(loaded.states).toEqual(
      new Map([
        ["wh_1", state],
        ["wh_4", state],
      ]),
    );
    await queues.deleteQueue("wh_1");
    const after = await queues.load();
    expect([after.stored, [...after.states.keys()]]).toEqual([["wh_2"], ["wh_4"]]);
  });

  it("remove settled deliveries, also twice", async () => {
    const queues = createOrderedQueueStore(streams.connection);
    const sequences: number[] = [];
    for (let n = 0; n < 120; n++) sequences.push((await queues.append("wh_5", `${n}`, sequences.at(-1) ?? 0)) ?? 0);
    await queues.remove("wh_5", sequences.slice(0, 110));
    await queues.remove("wh_5", sequences.slice(0, 111));
    expect((await queues.findNext("wh_5", 1))?.text).toBe("111");
    await queues.removeBefore("wh_5", sequences[115] ?? 0);
    expect((await queues.findNext("wh_5", 1))?.text).toBe("115");
    await queues.remove("wh_5", sequences);
    // An empty queue, whatever it held before.
    expect(await queues.append("wh_5", "again", sequences.at(-1) ?? 0)).toBeUndefined();
    expect(await queues.append("wh_5", "again", 0)).toBeGreaterThan(sequences.at(-1) ?? 0);
  });
});
