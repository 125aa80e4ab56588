import { describe, expect, onTestFinished, test } from "vitest";
import { Attempts } from "../../delivery/attempts/attempts.ts";
import type { Destination, ExternalDestination, Outcome } from "../../delivery/destinations/destination.ts";
import type { Delivery } from "../../delivery/routing/delivery.ts";

export interface DestinationUnderTest {
  /** A delivery to the destination. It succeeds unless one of the methods below was called. */
  readonly delivery: Delivery;
  readonly find: (delivery: Delivery) => Destination | undefined;
  /** Of each delivery that arrived, the id by which the receiver recognizes a repetition. */
  readonly arrived: readonly string[];
  /** The other side accepts nothing for now. */
  readonly failForNow: () => void;
  /** @returns a delivery that no attempt can deliver */
  readonly failForGood: () => Delivery;
  /** Lets the destination refuse deliveries until its owner acts. Absent: it never does. */
  readonly refuse?: () => void;
  /** NATS cannot store the event. Absent: nothing is stored. */
  readonly loseNats?: () => void;
  /** What it reaches throws, which it never should. Absent: see `loseNats`. */
  readonly breakPorts?: () => void;
}

const later: readonly Outcome["outcome"][] = ["retry", "backlog_full"];
const never: readonly Outcome["outcome"][] = ["listener_gone", "refused", "left_out"];

const hostilePayloads = [
  "",
  "undefined",
  '1,"source":"dc_victim","trigger":"manual"',
  '{"__proto__":{"outcome":"delivered"},"constructor":{"prototype":{}}}',
  '{"method":"GET\\r\\nHost: victim","url":"http://a","headers":{}}',
  '{"method":"GET","url":"file:///etc/passwd","headers":{}}',
  '{"method":"GET","url":"http://a","headers":{"a\\r\\nb":"c"}}',
  '{"subject":"a\\r\\nBcc: victim@example.com","text":"b"}',
  '{"bucket":"../victim","prefix":"../../victim","payload":1}',
  '"\\ud800"',
  "[".repeat(10_000),
  `"${"x".repeat(1_000_000)}"`,
];

/** What each destination does. `make` is called once per test. */
export function destinationConformance(make: () => DestinationUnderTest): void {
  const attempt = async (under: DestinationUnderTest, delivery = under.delivery): Promise<Outcome> => {
    const destination = destinationOf(under, delivery);
    if (destination.circuit === undefined) return destination.attempt(delivery, undefined);
    const attempts = startAttempts();
    return (await attemptAt(destination, delivery, attempts)) ?? expect.unreachable("there is no permit");
  };

  test("delivers once", async () => {
    const under = make();
    expect(destinationOf(under).refusal?.()).toBeUndefined();
    expect(await attempt(under)).toMatchObject({ outcome: "delivered" });
    expect(under.arrived).toHaveLength(1);
  });

  test("gives repetitions the same id, so that delivering twice is safe", async () => {
    const under = make();
    expect(await attempt(under)).toMatchObject({ outcome: "delivered" });
    expect(await attempt(under, { ...under.delivery, attempt: 2 })).toMatchObject({ outcome: "delivered" });
    expect(new Set(under.arrived).size).toBe(1);
  });

  test("is attempted again after a failure that may pass", async () => {
    const under = make();
    under.failForNow();
    const outcome = await attempt(under);
    expect(later).toContain(outcome.outcome);
    expect(errorOf(outcome)).not.toBe("");
    expect(under.arrived).toEqual([]);
  });

  test("is not attempted again after a failure that no attempt can change, and says why", async () => {
    const under = make();
    const outcome = await attempt(under, under.failForGood());
    expect(never).toContain(outcome.outcome);
    expect(errorOf(outcome)).not.toBe("");
    expect(under.arrived).toEqual([]);
  });

  describe("resolves with an outcome for a hostile event", () => {
    test.each(hostilePayloads.map((payload) => [payload.slice(0, 70), payload]))("with the payload %s", async (_shown, payload) => {
      const under = make();
      const delivery = { ...under.delivery, event: { ...under.delivery.event, payload } };
      const { circuit } = destinationOf(under, delivery);
      expect(["delivered", ...later, ...never]).toContain((await attempt(under, delivery)).outcome);
      expect(under.arrived.length).toBeLessThanOrEqual(1);
      expect(circuit === undefined || circuit.startsWith(under.delivery.listener)).toBe(true);
    });

    test("with a sealed payload that cannot be opened", async () => {
      const under = make();
      const delivery = { ...under.delivery, event: { ...under.delivery.event, sealed: "not sealed" } };
      expect(["delivered", ...later, ...never]).toContain((await attempt(under, delivery)).outcome);
    });
  });

  test("names what its owner can do when it refuses deliveries", async () => {
    const under = make();
    if (under.refuse === undefined) return;
    under.refuse();
    const message = destinationOf(under).refusal?.() ?? errorOf(await attempt(under));
    expect(message).toMatch(/(activate|enable) /i);
    expect(message).toContain(under.delivery.listener);
    expect(under.arrived).toEqual([]);
  });

  test("rejects only if NATS must store the event and cannot", async () => {
    const under = make();
    const isStored = under.loseNats !== undefined;
    expect(destinationOf(under).circuit === undefined).toBe(isStored);
    under.loseNats?.();
    if (isStored) await expect(attempt(under)).rejects.toThrow("NATS is away");
  });

  test("returns the permit of an attempt that could not be made, and is attempted again", async () => {
    const under = make();
    const destination = destinationOf(under);
    expect(under.breakPorts === undefined).toBe(destination.circuit === undefined);
    if (destination.circuit === undefined) return;
    under.breakPorts?.();
    const attempts = startAttempts();
    for (let n = 0; n < 2; n++)
      expect(await attemptAt(destination, under.delivery, attempts)).toMatchObject({ outcome: "retry", status: null });
    expect(under.arrived).toEqual([]);
  });

  test("has the same circuit and owner for each attempt, and attributes that are strings", () => {
    const under = make();
    const [first, second] = [destinationOf(under), destinationOf(under, { ...under.delivery, attempt: 2 })];
    expect([second.circuit, second.owner]).toEqual([first.circuit, under.delivery.event.owner]);
    for (const value of first.circuit === undefined ? [] : Object.values(first.spanAttributes())) expect(typeof value).toBe("string");
  });
}

/** With one permit for each circuit. */
function startAttempts(): Attempts {
  const ports = {
    history: { recordAttempts: async () => undefined },
    clock: { now: () => 1_000_000 },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };
  const attempts = new Attempts({ nextAttempt: () => 5_000, attemptsPerWebhook: 1 }, ports, async () => undefined);
  onTestFinished(() => attempts.stop());
  return attempts;
}

/** As the deliverer makes it. Undefined: there is no permit. */
async function attemptAt(destination: ExternalDestination, delivery: Delivery, attempts: Attempts): Promise<Outcome | undefined> {
  return (await attempts.acquire(destination.circuit, 1_000_000, 0)) ? attempts.attempt(delivery, destination) : undefined;
}

function destinationOf({ find, delivery }: DestinationUnderTest, given = delivery): Destination {
  const destination = find(given);
  if (destination === undefined) throw new Error(`delivery ${given.id} has no destination`);
  return destination;
}

const errorOf = (outcome: Outcome): string => (outcome.outcome === "delivered" ? "" : outcome.error);
