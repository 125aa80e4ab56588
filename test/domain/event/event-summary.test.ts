import fc from "fast-check";
import { expect, test } from "vitest";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import { eventSummary, shortenData } from "../../../domain/event/event-summary.ts";

const event = (payload: string, channel = ""): CommittedEvent => ({
  id: "1700000000000-3",
  emitId: "em_1",
  channel,
  dedupeId: "42",
  summary: "a row",
  ts: 1_699_999_999_000,
  payload,
});
const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

test("a summary has the id, the time of storage, the data and the metadata", () => {
  expect(eventSummary(event('{"a":1}', "custom"), { emitter: "dc_1", indexedAtMs: 1_700_000_000_005, expand: false })).toEqual({
    id: "1700000000000-3",
    indexed_at_ms: 1_700_000_000_005,
    event: { a: 1 },
    metadata: {
      emit_id: "em_1",
      name: "custom",
      emitter_id: "dc_1",
      id: "42",
      summary: "a row",
      ts: 1_699_999_999_000,
    },
  });
});

test("metadata has no id and no summary if the emit had none", () => {
  const bare = { ...event("{}"), dedupeId: null, summary: null };
  expect(Object.keys(eventSummary(bare, { emitter: "dc_1", indexedAtMs: 0, expand: true }).metadata)).toEqual([
    "emit_id",
    "name",
    "emitter_id",
    "ts",
  ]);
});

test("an event of a workflow is under raw_event, its error is not", () => {
  const options = { emitter: "p_1", indexedAtMs: 0, expand: true };
  expect(eventSummary(event("[1]"), options).event).toEqual({ raw_event: [1] });
  expect(eventSummary(event('{"error":{}}', "$errors"), options).event).toEqual({ error: {} });
});

test("data up to 1 KiB, and expanded data of any size, is whole", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3000), (value, padding) => {
      const payload = JSON.stringify({ value, padding: "x".repeat(padding) });
      expect(eventSummary(event(payload), { emitter: "dc_1", indexedAtMs: 0, expand: true }).event).toEqual(JSON.parse(payload));
      if (bytesOf(JSON.parse(payload)) <= 1024) expect(shortenData(payload)).toEqual(JSON.parse(payload));
    }),
  );
});

test("larger data becomes an object of about 1 KiB with the fields that fit and $truncated", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.string({ minLength: 300, maxLength: 2000 }))), (data) => {
      const payload = JSON.stringify({ ...data, tail: "é".repeat(600) });
      const whole = JSON.parse(payload) as Record<string, unknown>;
      const { $truncated, ...kept } = shortenData(payload) as Record<string, unknown> & { $truncated: unknown };
      expect($truncated).toEqual({
        bytes: bytesOf(whole),
        omitted_fields: Object.keys(whole).length - Object.keys(kept).length,
      });
      expect(bytesOf(kept)).toBeLessThanOrEqual(1100);
      for (const [name, value] of Object.entries(kept)) expect(value).toEqual(whole[name]);
    }),
  );
  expect(shortenData(JSON.stringify({ id: 7, body: "x".repeat(2000), title: "t" }))).toEqual({
    id: 7,
    title: "t",
    $truncated: { bytes: 2030, omitted_fields: 1 },
  });
});

test("a long text or array becomes an object with a preview", () => {
  expect(shortenData(JSON.stringify("x".repeat(2000)))).toEqual({
    $truncated: { bytes: 2002, preview: `"${"x".repeat(255)}` },
  });
  expect(shortenData(JSON.stringify(Array(600).fill(1)))).toMatchObject({ $truncated: { bytes: 1201 } });
});
