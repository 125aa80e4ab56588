import { describe, expect, it } from "vitest";
import { withRegistry } from "./registry-support.ts";

const registry = withRegistry();

describe("headwater-schedule", () => {
  it("counts its ticks, and gives the payload along", async () => {
    const source = await registry.source("headwater-schedule", { payload: { team: "x" } });
    const tick = { timestamp: 1_700_000_000, interval_seconds: null, cron: "0 9 * * *", timezone: "Europe/Berlin" };
    expect((await source.run(tick)).events).toEqual([
      {
        event: {
          time: "2023-11-14T22:13:20.000Z",
          timestamp: 1_700_000_000,
          count: 1,
          cron: "0 9 * * *",
          timezone: "Europe/Berlin",
          payload: { team: "x" },
        },
        id: "1",
        summary: "Tick 1 at 2023-11-14T22:13:20.000Z",
      },
    ]);
    // Run by hand, there is no tick.
    expect((await source.run(null)).events).toMatchObject([{ event: { count: 2, cron: null } }]);
  });
});

describe("headwater-filter", () => {
  const order = { id: 7, status: "paid", total: 120.5, tags: ["new", "eu"], user: { name: "Ann", email: null }, "a b": 1 };
  const passes = async (conditions: readonly string[], match = "all") =>
    (await (await registry.source("headwater-filter", { conditions, match })).run(order)).events.length === 1;

  it("tests every kind of condition", async () => {
    const yes = [
      "status = paid",
      'status = "paid"',
      "id = 7",
      "id=7",
      "status != open",
      "total >= 120.5",
      "total > 100",
      "id < 8",
      "id <= 7",
    ];
    const more = ["tags contains new", "status contains ai", "status starts with pa", "status ends with id", "status matches ^p.id$"];
    const rest = ["user.name exists", "user.phone is missing", '["a b"] = 1', "tags[1] = eu", "user.email = null", "$.id = 7"];
    const no = [
      "status = open",
      "id > 7",
      "tags contains ne",
      "user.phone exists",
      "user.name is missing",
      "missing > 1",
      "constructor exists",
      "user.email > -1",
    ];
    expect(await passes([...yes, ...more, ...rest])).toBe(true);
    expect(await passes(no, "any")).toBe(false);
    expect(await passes(no, "none")).toBe(true);
    expect(await passes([...no, "id = 7"], "any")).toBe(true);
    expect(await passes(["id = 7", "id = 8"])).toBe(false);
    expect(await passes([])).toBe(true);
  });

  it("gives events another shape, channel and summary", async () => {
    const template = {
      order: "{{id}}",
      text: "{{user.name}} paid {{total}}",
      "{{status}}": [{ tags: "{{tags}}" }],
      none: "{{nothing}}",
      kept: 5,
    };
    const source = await registry.source("headwater-filter", { template, summary: "Order {{id}}", channel: "{{status}}" });
    expect((await source.run(order)).events).toEqual([
      {
        event: { order: 7, text: "Ann paid 120.5", paid: [{ tags: ["new", "eu"] }], none: null, kept: 5 },
        summary: "Order 7",
        channel: "paid",
      },
    ]);
  });

  it("passes on events that are no objects, and any without conditions", async () => {
    const source = await registry.source("headwater-filter");
    for (const event of [null, 5, "text", [1]])
      expect((await source.run(event)).events.map(({ event: emitted }) => emitted)).toEqual([event]);
  });

  it.each(["status", "status ~ paid", "= paid", "", "status matches ("])("says at once that %j is no condition", async (condition) => {
    const source = await registry.source("headwater-filter", { conditions: [condition] });
    await expect(source.run(undefined, "activate")).rejects.toThrow(/condition|regular expression/i);
  });
});

describe("headwater-heartbeat", () => {
  const tick = { timestamp: Math.floor(Date.now() / 1_000), interval_seconds: 60 };
  /** More than has passed, and less: so the test need not wait. */
  const [long, over] = [{ withinSeconds: 3_600 }, { withinSeconds: -1 }];
  const statuses = ({ events }: { events: readonly { event: unknown }[] }) =>
    events.map(({ event }) => (event as { status: string }).status);

  it("says once that signs of life have stopped, and that they are back", async () => {
    const source = await registry.source("headwater-heartbeat", long);
    await source.run(undefined, "activate");
    expect(statuses(await source.run(tick))).toEqual([]);
    source.props = over;
    const missing = await source.run(tick);
    expect(missing.events).toMatchObject([
      { event: { status: "missing", silent_seconds: expect.any(Number) as number, last_heard: expect.any(String) as string } },
    ]);
    expect(statuses(await source.run(tick))).toEqual([]);
    source.props = long;
    // Another source's event is a sign of life, and so is a request.
    expect(statuses(await source.run({ anything: 1 }))).toEqual(["recovered"]);
    expect(statuses(await source.run({ method: "GET", path: "/", headers: {}, timestamp: 1, interval_seconds: 1 }))).toEqual([]);
    expect(statuses(await source.run(tick))).toEqual([]);
  });

  it("says so at every check if `repeat` is set", async () => {
    const source = await registry.source("headwater-heartbeat", { ...over, repeat: true });
    await source.run(undefined, "activate");
    expect(statuses(await source.run(tick))).toEqual(["missing"]);
    expect(statuses(await source.run(tick))).toEqual(["missing"]);
  });
});
