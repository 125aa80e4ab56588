import { describe, expect, it } from "vitest";
import { AttemptBuffer } from "../../../delivery/attempts/attempt-buffer.ts";
import { KeptExchanges } from "../../../delivery/attempts/kept-exchanges.ts";
import type { Attempt } from "../../../delivery/record/ports.ts";
import { type Exchange, lengthOf, type RawExchange } from "../../../domain/delivery/exchange.ts";
import { deliveryTo } from "../../conformance/destination-ports.ts";

const exchangeWith = (body: string, sent: Exchange["sent"] = []): Exchange => ({
  url: "https://a/",
  sent,
  response: { headers: [["x", "y"]], areHeadersCut: false, body, encoding: "utf-8", isCut: false },
});
const raw = (exchange: Exchange): RawExchange => {
  const { response, ...request } = exchange;
  return { request, responseBytes: response && lengthOf(response.headers) + response.body.length, withResponse: () => exchange };
};
const large = exchangeWith("x".repeat(16_384));
const emptied = { headers: [], areHeadersCut: true, body: "", encoding: "utf-8", isCut: true };

describe("a batch of attempts", () => {
  it("keeps 128 Ki characters of responses of one webhook, and of others nevertheless", () => {
    const kept = new KeptExchanges();
    const bodies = Array.from({ length: 9 }, () => kept.keep("wh_1", "u_1", raw(large))?.response?.body.length);
    expect(bodies).toEqual([...Array.from({ length: 7 }, () => 16_384), 0, 0]);
    expect(kept.keep("wh_1", "u_1", raw(large))).toEqual({ ...large, response: emptied });
    expect(kept.keep("wh_1", "u_1", raw(exchangeWith("small")))?.response?.body).toBe("small");
    expect(kept.keep("wh_2", "u_1", raw(large))).toBe(large);
  });

  it("keeps 1 Mi characters of responses in all, and requests beyond", () => {
    const kept = new KeptExchanges();
    const bodies = Array.from({ length: 100 }, (_, n) => kept.keep(`wh_${n}`, `u_${n}`, raw(large))?.response?.body.length);
    expect(bodies.filter((length) => length === 16_384).length).toBe(63);
    expect(bodies.filter((length) => length === 0).length).toBe(37);
  });

  it("keeps 256 Ki characters of responses of one owner, whose others are not even decoded", () => {
    const kept = new KeptExchanges();
    let made = 0;
    const counted = { ...raw(large), withResponse: () => (made++, large) };
    const bodies = Array.from({ length: 40 }, (_, n) => kept.keep(`wh_${n}`, "u_1", counted)?.response?.body.length);
    expect(bodies.filter((length) => length === 16_384).length).toBe(15);
    expect(made).toBe(15);
    expect(kept.keep("wh_other", "u_2", raw(large))).toBe(large);
  });

  it("keeps 32 Mi characters of requests", () => {
    const kept = new KeptExchanges();
    const sent = [["x", "y".repeat(2 ** 20)]] as const;
    const each = Array.from({ length: 40 }, () => kept.keep("wh_1", "u_1", raw({ url: "", sent })));
    expect(each.filter((exchange) => exchange === undefined).length).toBe(9);
  });
});

it("keeps the same bounds while Postgres is away, and every attempt", async () => {
  let isAway = true;
  let recorded: readonly Attempt[] = [];
  const recordAttempts = async (attempts: readonly Attempt[]): Promise<void> => {
    if (isAway) throw new Error("away");
    recorded = attempts;
  };
  const log = { info: () => undefined, warn: () => undefined };
  const buffer = new AttemptBuffer({ history: { recordAttempts }, log }, async () => undefined);
  const outcome = { outcome: "delivered", status: 200, exchange: raw(large) } as const;
  const add = (count: number): void => {
    for (let n = 0; n < count; n++) buffer.add(deliveryTo("wh_1"), "webhook", { outcome, at: 1, durationMs: 1 }, false);
  };
  add(20);
  await buffer.stop();
  add(30);
  isAway = false;
  await buffer.stop();
  expect(recorded.length).toBe(50);
  expect(recorded.filter(({ exchange }) => exchange?.response?.body !== "").length).toBe(7);
});
