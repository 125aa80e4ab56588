import { describe, expect, test } from "vitest";
import type { Attempt, DeadLetter } from "../../delivery/ports.ts";
import { createDeliveryRecords } from "../../platform/postgres/deliveries.ts";
import { withPostgres } from "../support/postgres.ts";
import { withDatabase } from "./postgres-support.ts";

const postgres = withPostgres();
const records = createDeliveryRecords(withDatabase(postgres), { kept: { attempts: 5, deadLetters: 5 } });

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

describe("delivery records", () => {
  test("attempts are listed newest first, each once, and by delivery", async () => {
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

  test("only the newest attempts of a webhook are kept", async () => {
    for (let number = 1; number <= 30; number++) await records.recordAttempts([attempt("wh_2", "a", number)]);
    expect((await records.pageAttempts("wh_2", { limit: 100, cursor: null })).items.map((item) => item.attempt)).toEqual([
      30, 29, 28, 27, 26,
    ]);
    const { rows } = await postgres.client.query<{ count: number }>("select count(*)::int as count from attempts where webhook = 'wh_2'");
    expect(rows[0]?.count).toBeLessThanOrEqual(11);
  });

  test("a dead letter is kept once, found, and purged alone or with all", async () => {
    await records.recordDeadLetters([letter("wh_3", "a"), letter("wh_3", "b"), letter("wh_3", "c")]);
    await records.recordDeadLetters([{ ...letter("wh_3", "a"), reason: "told again" }]);
    expect(await records.pageDeadLetters("wh_3", { limit: 1, cursor: null })).toMatchObject({
      total: 3,
      items: [letter("wh_3", "c")],
    });
    expect(await records.findDeadLetter("wh_3", "wh_3-a")).toMatchObject(letter("wh_3", "a"));
    expect(await records.findDeadLetter("wh_other", "wh_3-a")).toBeUndefined();
    expect(await records.deleteDeadLetters("wh_3", ["wh_3-a"])).toBe(1);
    expect(await records.deleteDeadLetters("wh_3")).toBe(2);
  });

  test("a deleted webhook leaves nothing", async () => {
    await records.recordAttempts([attempt("wh_4", "a", 1)]);
    await records.recordDeadLetters([letter("wh_4", "a")]);
    await records.deleteWebhook("wh_4");
    expect((await records.pageAttempts("wh_4", { limit: 1, cursor: null })).total).toBe(0);
    expect((await records.pageDeadLetters("wh_4", { limit: 1, cursor: null })).total).toBe(0);
  });
});
