import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Attempt } from "../../../delivery/record/ports.ts";
import type { DeadLetter } from "../../../delivery/record/dead-letter.ts";
import { createDeliveryRecords } from "../../../platform/postgres/history/deliveries.ts";
import { createFailingEndpoints } from "../../../platform/postgres/history/failing-endpoints.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase, withHistory } from "./support.ts";

const postgres = withMigratedPostgres();
const kept = { attempts: 5, deadLetters: 5 };
const delivery = createDeliveryRecords(withDatabase("delivery", postgres), { kept });
const { recordAttempts, recordDeadLetters, oldestDeadLetters, removeDeadLetters } = delivery;
const bytesDatabase = withDatabase("delivery", postgres);
const records = {
  ...createDeliveryRecords(withDatabase("api", postgres), { kept }),
  recordAttempts,
  recordDeadLetters,
  oldestDeadLetters,
  removeDeadLetters,
};

const subject = (webhook: string, delivery: string) => ({
  delivery: `${webhook}-${delivery}`,
  webhook,
  subscription: "sub_1",
  owner: "u_1",
  source: "dc_1",
  event: "1-0",
  emitId: "e1",
  channel: "",
});
const attempt = (webhook: string, delivery: string, number: number): Attempt => ({
  ...subject(webhook, delivery),
  attempt: number,
  at: 1_000 + number,
  durationMs: 3,
  outcome: "retry",
  status: 503,
  error: "busy\0",
});
const letter = (webhook: string, delivery: string): DeadLetter => ({
  ...subject(webhook, delivery),
  attempts: 9,
  reason: "gone",
  diedAt: 5_000,
  payload: '{"a":"\\u0000"}',
});

const history = withHistory({}, postgres);
const failing = createFailingEndpoints(withDatabase("operator", postgres));

describe("delivery records", () => {
  test("of a deleted webhook are swept, also those recorded just after, but none of one that was applied again with its id", async () => {
    const now = Date.now();
    const [one, other] = ["wh_ended", "wh_other"];
    await failing.forget(one);
    await records.recordAttempts([
      { ...attempt(one, "just_after", 1), at: now + 5_000 },
      { ...attempt(one, "again", 1), at: now + 3_600_000 },
      { ...attempt(other, "a", 1), at: now },
    ]);
    await records.recordDeadLetters([
      { ...letter(one, "just_after"), diedAt: now },
      { ...letter(one, "again"), diedAt: now + 3_600_000 },
    ]);
    await history.sweep();
    const attemptsOf = async (webhook: string): Promise<readonly string[]> =>
      (await records.pageAttempts(webhook, { limit: 9, cursor: null })).items.map((item) => item.delivery);
    expect(await attemptsOf(one)).toHaveLength(2);
    await postgres.client.query("update ended_sources set ended_at = ended_at - interval '25 hours' where source = $1", [one]);
    // So were the times of what it has: a day later.
    await postgres.client.query("update attempts set at_ms = at_ms - 90000000 where webhook = $1", [one]);
    await postgres.client.query("update dead_letters set died_ms = died_ms - 90000000 where webhook = $1", [one]);
    await history.sweep();
    expect([await attemptsOf(one), await attemptsOf(other)]).toEqual([[`${one}-again`], [`${other}-a`]]);
    expect((await records.pageDeadLetters(one, { limit: 9, cursor: null })).items.map((item) => item.delivery)).toEqual([`${one}-again`]);
  });

  test("lists attempts newest first, each once, and by delivery", async () => {
    await records.recordAttempts([attempt("wh_1", "a", 1), attempt("wh_1", "b", 1)]);
    await records.recordAttempts([attempt("wh_1", "a", 1), attempt("wh_1", "a", 2)]);
    const { items, total } = await records.pageAttempts("wh_1", { limit: 2, cursor: null });
    expect(total).toBe(3);
    expect(items.map((item) => [item.delivery, item.attempt])).toEqual([
      ["wh_1-a", 2],
      ["wh_1-b", 1],
    ]);
    expect(items[0]).toMatchObject(attempt("wh_1", "a", 2));
    const rest = await records.pageAttempts("wh_1", { limit: 2, cursor: { side: "after", id: items[1]?.id ?? "" } });
    expect(rest.items.map((item) => [item.delivery, item.attempt])).toEqual([["wh_1-a", 1]]);
    const back = await records.pageAttempts("wh_1", {
      limit: 1,
      cursor: { side: "before", id: rest.items[0]?.id ?? "" },
    });
    expect(back.items.map((item) => [item.delivery, item.attempt])).toEqual([["wh_1-b", 1]]);
    expect((await records.pageAttempts("wh_1", { limit: 9, cursor: null, delivery: "wh_1-a" })).total).toBe(2);
  });

  test("keeps only the newest attempts of a webhook", async () => {
    for (let number = 1; number <= 30; number++) await records.recordAttempts([attempt("wh_2", "a", number)]);
    expect((await records.pageAttempts("wh_2", { limit: 100, cursor: null })).items.map((item) => item.attempt)).toEqual([
      30, 29, 28, 27, 26,
    ]);
    const { rows } = await postgres.client.query<{ count: number }>("select count(*)::int as count from attempts where webhook = 'wh_2'");
    expect(rows[0]?.count).toBeLessThanOrEqual(11);
  });

  test("stores a dead letter once, finds it, and purges it alone or with all", async () => {
    await records.recordDeadLetters([letter("wh_3", "a"), letter("wh_3", "b"), letter("wh_3", "c")]);
    await records.recordDeadLetters([{ ...letter("wh_3", "a"), reason: "repeated" }]);
    expect(await records.pageDeadLetters("wh_3", { limit: 1, cursor: null })).toMatchObject({
      total: 3,
      items: [letter("wh_3", "c")],
    });
    expect(await records.findDeadLetter("wh_3", "wh_3-a")).toMatchObject(letter("wh_3", "a"));
    expect(await records.findDeadLetter("wh_other", "wh_3-a")).toBeUndefined();
    expect(await records.deleteDeadLetters("wh_3", ["wh_3-a"])).toBe(1);
    expect(await records.deleteDeadLetters("wh_3")).toBe(2);
  });

  test("stores a dead letter that failed again as a new one, removed by its own id alone", async () => {
    await records.recordDeadLetters([letter("wh_5", "a"), letter("wh_5", "b")]);
    const [, first] = (await records.pageDeadLetters("wh_5", { limit: 2, cursor: null })).items;
    await records.recordDeadLetters([{ ...letter("wh_5", "a"), attempts: 10, diedAt: 6_000 }]);
    await records.removeDeadLetters("wh_5", [first?.id ?? ""]);
    const { items } = await records.pageDeadLetters("wh_5", { limit: 2, cursor: null });
    expect(items.map(({ delivery, attempts }) => [delivery, attempts])).toEqual([
      ["wh_5-a", 10],
      ["wh_5-b", 9],
    ]);
    const [newest, oldest] = items;
    const upTo = async (id = "", limit = 9) =>
      (await records.oldestDeadLetters("wh_5", { upTo: id }, limit)).map(({ delivery }) => delivery);
    expect(await upTo(newest?.id)).toEqual(["wh_5-b", "wh_5-a"]);
    expect(await upTo(newest?.id, 1)).toEqual(["wh_5-b"]);
    expect(await upTo(oldest?.id)).toEqual(["wh_5-b"]);
    await records.removeDeadLetters("wh_5", [oldest?.id ?? "", newest?.id ?? ""]);
    expect(await upTo(newest?.id)).toEqual([]);
  });

  test("counts and lists dead letters of a time range, of one webhook only", async () => {
    const died = [7_000, 5_000, 6_000];
    await records.recordDeadLetters(died.map((diedAt, index) => ({ ...letter("wh_8", `d${index}`), diedAt })));
    await records.recordDeadLetters([{ ...letter("wh_9", "other"), diedAt: 6_000 }]);
    const [newest] = (await records.pageDeadLetters("wh_8", { limit: 1, cursor: null })).items;
    const ranges = [
      [{}, ["d0", "d1", "d2"]],
      [{ sinceMs: 6_000 }, ["d0", "d2"]],
      [{ untilMs: 6_000 }, ["d1"]],
      [{ sinceMs: 6_000, untilMs: 6_001 }, ["d2"]],
      [{ sinceMs: 8_000 }, []],
    ] as const;
    for (const [range, expected] of ranges) {
      const listed = await records.oldestDeadLetters("wh_8", { upTo: newest?.id ?? "", ...range }, 9);
      expect(listed.map(({ delivery }) => delivery)).toEqual(expected.map((name) => `wh_8-${name}`));
      const { count, newest: last } = await records.countDeadLetters("wh_8", range);
      expect([count, last]).toEqual([expected.length, listed.at(-1)?.id]);
    }
    expect(await records.findDeadDeliveries("wh_8", ["wh_8-d0", "wh_9-other", "none"])).toEqual(["wh_8-d0"]);
  });

  test("returns the state of a delivery after its last attempt, also as a dead letter", async () => {
    const stateOf = async (name: string) => (await records.findDelivery(`wh_6-${name}`))?.state;
    await records.recordAttempts([attempt("wh_6", "waiting", 1)]);
    await records.recordAttempts([attempt("wh_6", "arrived", 1), { ...attempt("wh_6", "arrived", 2), outcome: "delivered" }]);
    await records.recordAttempts([{ ...attempt("wh_6", "dead", 1), outcome: "dead" }]);
    await records.recordDeadLetters([letter("wh_6", "dead"), letter("wh_6", "old")]);
    expect(await records.findDelivery("wh_6-waiting")).toEqual({ webhook: "wh_6", state: "waiting" });
    expect([await stateOf("arrived"), await stateOf("dead"), await stateOf("old"), await stateOf("none")]).toEqual([
      "delivered",
      "dead",
      "dead",
      undefined,
    ]);
    await records.deleteDeadLetters("wh_6");
    expect([await stateOf("dead"), await stateOf("old")]).toEqual(["ended", undefined]);
  });

  test("filters the newest attempts by outcome, event and time", async () => {
    const rows = [1, 2, 3, 4, 5, 6].map((number) => ({
      ...attempt("wh_7", "a", number),
      event: `${number % 2}-0`,
      error: 'he said "outcome":"delivered"',
      ...(number === 6 ? ({ outcome: "dead" } as const) : {}),
    }));
    for (const row of rows) await records.recordAttempts([row]);
    const picked = async (filter: object) =>
      (await records.pageAttempts("wh_7", { limit: 9, cursor: null, ...filter })).items.map((item) => item.attempt);
    expect(await picked({})).toEqual([6, 5, 4, 3, 2]);
    expect(await picked({ outcome: "dead" })).toEqual([6]);
    expect(await picked({ outcome: "delivered" })).toEqual([]);
    expect(await picked({ event: "1-0" })).toEqual([5, 3]);
    expect(await picked({ sinceMs: 1_003, untilMs: 1_004 })).toEqual([4, 3]);
    expect(await picked({ outcome: "retry", event: "0-0", untilMs: 1_004 })).toEqual([4, 2]);
  });

  test("returns what the newest attempts at a delivery have sent and received, also where texts have U+0000 and half of an emoji", async () => {
    const exchange = {
      url: "https://a/\ud83d",
      sent: [["webhook-id", "e\0"]],
      response: { headers: [["x", "\0"]], areHeadersCut: false, body: "b\0\ud83d", encoding: "utf-8", isCut: true },
    } as const;
    const rows = [{ ...attempt("wh_8", "a", 1), exchange }, attempt("wh_8", "a", 2), attempt("wh_8", "b", 1)];
    await records.recordAttempts(rows);
    await records.recordAttempts([{ ...attempt("wh_8", "a", 1), exchange: { ...exchange, url: "repeated" } }]);
    expect(await records.readDelivery("wh_8-a", 9)).toEqual([rows[1], rows[0]]);
    expect(await records.readDelivery("wh_8-a", 1)).toEqual([rows[1]]);
    expect(await records.readDelivery("wh_8-none", 9)).toEqual([]);
    const { items } = await records.pageAttempts("wh_8", { limit: 9, cursor: null });
    expect(items.map((item) => "exchange" in item)).toEqual([false, false, false]);
    await records.deleteWebhook("wh_8");
    expect(await records.readDelivery("wh_8-a", 9)).toEqual([]);
  });

  test("returns attempts at a delivery of one webhook only, though another has stored one under its id", async () => {
    await records.recordAttempts([{ ...attempt("wh_9", "a", 1), delivery: "same" }]);
    await records.recordAttempts([{ ...attempt("wh_10", "a", 2), delivery: "same" }]);
    expect((await records.readDelivery("same", 9)).map(({ webhook }) => webhook)).toEqual(["wh_10"]);
  });

  test("keeps nothing of a deleted webhook", async () => {
    await records.recordAttempts([attempt("wh_4", "a", 1)]);
    await records.recordDeadLetters([letter("wh_4", "a")]);
    await records.deleteWebhook("wh_4");
    expect((await records.pageAttempts("wh_4", { limit: 1, cursor: null })).total).toBe(0);
    expect((await records.pageDeadLetters("wh_4", { limit: 1, cursor: null })).total).toBe(0);
  });
});

test("keeps the newest dead letters of a webhook, by bytes and by number", async () => {
  const bounded = createDeliveryRecords(bytesDatabase, { kept: { deadLetterBytes: 20_000 } });
  const large = (n: number): DeadLetter => ({
    ...letter("wh_bytes", String(n)),
    payload: JSON.stringify(randomBytes(4_000).toString("base64")),
  });
  for (let n = 0; n < 12; n++) await bounded.recordDeadLetters([large(n)]);
  const { items } = await bounded.pageDeadLetters("wh_bytes", { limit: 100, cursor: null });
  expect(items[0]?.delivery).toBe("wh_bytes-11");
  expect(items.length).toBeGreaterThan(2);
  expect(items.length).toBeLessThan(6);
  for (let n = 12; n < 14; n++)
    await bounded.recordDeadLetters([{ ...large(n), payload: JSON.stringify(randomBytes(40_000).toString("base64")) }]);
  const huge = await bounded.pageDeadLetters("wh_bytes", { limit: 100, cursor: null });
  expect(huge.items.map(({ delivery: id }) => id)).toEqual(["wh_bytes-13"]);
});
