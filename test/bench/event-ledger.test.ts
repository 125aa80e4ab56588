import { expect, it } from "vitest";
import { EventLedger } from "../../bench/harness/measure/event-ledger.ts";

const body = (id: string): string => JSON.stringify({ id, pad: "" });

it("counts each event once since the last report, and all that still wait", () => {
  const ledger = new EventLedger();
  const received: string[] = [];
  for (const id of ["1", "2"]) ledger.sent(id, () => received.push(id));
  ledger.onBody(body("1"));
  ledger.onBody(body("1"));
  expect(received).toEqual(["1"]);
  expect(ledger.report()).toEqual({ received: 1, doubled: 1, waiting: 1 });
  ledger.onBody(body("2"));
  expect(ledger.report()).toEqual({ received: 1, doubled: 0, waiting: 0 });
});

it("ignores events that it did not send", () => {
  const ledger = new EventLedger();
  ledger.sent("1", () => undefined);
  for (const id of ["", "x"]) ledger.onBody(body(id));
  expect(ledger.report()).toEqual({ received: 0, doubled: 0, waiting: 1 });
});
