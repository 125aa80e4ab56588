import { afterEach, describe, expect, it } from "vitest";
import { endpointAnswers } from "../../bench/harness/measure/endpoint-answers.ts";
import { EventLedger } from "../../bench/harness/measure/event-ledger.ts";
import { startReceiver } from "../../bench/harness/baseline/raw-http.ts";

const body = (group: string, id: string): string => JSON.stringify({ group, id, pad: "" });

describe("events that are out", () => {
  it("counts each delivery once, with its time, and resolves when all listeners have an event", () => {
    let now = 1_000;
    const ledger = new EventLedger(() => now);
    let done = 0;
    ledger.sent("g", "1", 2, () => done++);
    ledger.sent("g", "2", 2);
    now = 1_010;
    ledger.onBody(body("g", "1"), "/a");
    ledger.onBody(body("g", "1"), "/a");
    expect(done).toBe(0);
    now = 1_030;
    ledger.onBody(body("g", "1"), "/b");
    expect(done).toBe(1);
    expect(ledger.report()["g"]).toEqual({
      sent: 4,
      received: 2,
      doubled: 1,
      waiting: 2,
      firstAt: 1_010,
      lastAt: 1_030,
      p50: 10,
      p95: 30,
      p99: 30,
      most: 30,
    });
  });

  it("reports what came since the last report, and all that still waits", () => {
    const ledger = new EventLedger(() => 5);
    ledger.sent("g", "1", 1);
    ledger.sent("g", "2", 1);
    ledger.onBody(body("g", "1"), "/a");
    ledger.report();
    expect(ledger.waiting("g")).toBe(1);
    ledger.onBody(body("g", "2"), "/a");
    expect(ledger.report()["g"]).toMatchObject({ sent: 0, received: 1, waiting: 0 });
  });

  it("leaves out what it did not send", () => {
    const ledger = new EventLedger(() => 5);
    ledger.sent("g", "1", 1);
    ledger.onBody(body("bare", ""), "/a");
    ledger.onBody(body("g", "x"), "/a");
    expect(ledger.report()["g"]).toMatchObject({ received: 0, doubled: 0, waiting: 1 });
  });
});

describe("endpoints", () => {
  const servers: { close(): unknown }[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it("answer by their path", async () => {
    let now = 0;
    const { answerTo, up } = endpointAnswers(() => now);
    expect([answerTo("/ok"), answerTo("/slow/300"), answerTo("/down/x")]).toEqual([
      undefined,
      { status: 200, afterMs: 300 },
      { status: 503, afterMs: 0 },
    ]);
    expect(answerTo("/flapping/2000/x")?.status).toBe(503);
    now = 2_500;
    expect(answerTo("/flapping/2000/x")).toBe(undefined);
    up();
    expect(answerTo("/down/x")).toBe(undefined);
  });

  it("report which path was posted to, and what they answered", async () => {
    const seen: unknown[] = [];
    const { port, server } = await startReceiver((...got) => seen.push(got), endpointAnswers(() => 0).answerTo);
    servers.push(server);
    const statuses = ["/down/a", "/ok/b", "/slow/5/c"].map(async (path) => {
      const init = { method: "POST", body: path, headers: { connection: "close" } };
      return (await fetch(`http://127.0.0.1:${port}${path}`, init)).status;
    });
    expect(await Promise.all(statuses)).toEqual([503, 200, 200]);
    expect(seen.toSorted()).toEqual([
      ["/down/a", "/down/a", 503],
      ["/ok/b", "/ok/b", 200],
      ["/slow/5/c", "/slow/5/c", 200],
    ]);
  });
});
