import { expect, it } from "vitest";
import { hasProcessed, addProcessed, maxProcessedEvents, type ProcessedEvents } from "../../../domain/event/processed-events.ts";

it("remembers the last deliveries, and none that is not told", () => {
  let heard: ProcessedEvents | undefined;
  for (let n = 0; n < maxProcessedEvents + 10; n++) heard = addProcessed(heard, `d${n}`);
  expect(heard).toHaveLength(maxProcessedEvents);
  expect([hasProcessed(heard, "d9"), hasProcessed(heard, "d10"), hasProcessed(heard, `d${maxProcessedEvents + 9}`)]).toEqual([
    false,
    true,
    true,
  ]);
  expect([hasProcessed(heard, undefined), hasProcessed(undefined, "d10")]).toEqual([false, false]);
});
