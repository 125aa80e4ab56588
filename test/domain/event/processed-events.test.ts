import { expect, it } from "vitest";
import { hasProcessed, addProcessed, maxProcessedEvents, type ProcessedEvents } from "../../../domain/event/processed-events.ts";

it("remembers the last deliveries, and nothing for an invocation without a delivery", () => {
  let processed: ProcessedEvents | undefined;
  for (let n = 0; n < maxProcessedEvents + 10; n++) processed = addProcessed(processed, `d${n}`);
  expect(processed).toHaveLength(maxProcessedEvents);
  expect([hasProcessed(processed, "d9"), hasProcessed(processed, "d10"), hasProcessed(processed, `d${maxProcessedEvents + 9}`)]).toEqual([
    false,
    true,
    true,
  ]);
  expect([hasProcessed(processed, undefined), hasProcessed(undefined, "d10")]).toEqual([false, false]);
});
