import { expect, it } from "vitest";
import { IsolateSlots } from "../../../runner/workflow/isolate-slots.ts";

it("gives each execution of a step the lowest free isolate", async () => {
  const slots = new IsolateSlots();
  const first = await slots.take("p_a", "c_1", "p_a.r_1");
  const second = await slots.take("p_a", "c_1", "p_a.r_2");
  expect([first.isolate, second.isolate]).toEqual(["p_a/c_1/0", "p_a/c_1/1"]);
  expect(slots.queueOf(second.isolate)).toBe("p_a.r_2");
  first.free();
  expect((await slots.take("p_a", "c_1", "p_a.r_3")).isolate).toBe("p_a/c_1/0");
});

it("lets an execution wait while twelve compute, until one ends or waits for I/O", async () => {
  const slots = new IsolateSlots();
  const taken = await Promise.all(Array.from({ length: 12 }, (_, run) => String(run)).map((run) => slots.take("p_a", "c_1", run)));
  const order: string[] = [];
  const later = ["later", "last"].map((run) => slots.take("p_a", "c_1", run).then((slot) => (order.push(run), slot)));
  await Promise.resolve();
  expect(order).toEqual([]);
  slots.pause("p_a/c_1/2");
  expect((await later[0])?.isolate).toBe("p_a/c_1/12");
  expect(order).toEqual(["later"]);
  taken[0]?.free();
  expect((await later[1])?.isolate).toBe("p_a/c_1/0");
});

it("names the isolate of a source as its queue", () => {
  expect(new IsolateSlots().queueOf("dc_a")).toBe("dc_a");
});
