import { expect, it } from "vitest";
import { hasHeard, hear, mostHeard, type Heard } from "../../../domain/event/processed-events.ts";

it("remembers the last deliveries, and none that is not told", () => {
  let heard: Heard | undefined;
  for (let n = 0; n < mostHeard + 10; n++) heard = hear(heard, `d${n}`);
  expect(heard).toHaveLength(mostHeard);
  expect([hasHeard(heard, "d9"), hasHeard(heard, "d10"), hasHeard(heard, `d${mostHeard + 9}`)]).toEqual([false, true, true]);
  expect([hasHeard(heard, undefined), hasHeard(undefined, "d10")]).toEqual([false, false]);
});
