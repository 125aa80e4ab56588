import { describe, expect, it } from "vitest";
import { withRegistry } from "../registry-support.ts";

const registry = withRegistry();

describe("headwater-continue-if", () => {
  const order = { total: 120.5, status: "paid", tags: ["new"] };
  const decide = (props: object) => registry.step("headwater-continue-if", { value: "{{steps.trigger.event}}", ...props }, order);

  it.each([
    ["all conditions are met", { conditions: ["total >= 100", "status = paid"] }],
    ["one of them is met", { conditions: ["total >= 1000", "tags contains new"], match: "any" }],
    ["none of them is met", { conditions: ["total >= 1000", "status = open"], match: "none" }],
    ["the value is true", { value: "{{steps.trigger.event.total > 100}}" }],
  ])("continues if %s", async (_, props) => {
    expect(await decide(props)).toMatchObject({ result: true, flow: null, exports: { $summary: "The run continues" } });
  });

  it.each([
    ["a condition is not met", { conditions: ["total >= 100", "status = open"] }],
    ["no condition is met", { conditions: ["total >= 1000"], match: "any" }],
    ["a condition is met", { conditions: ["total >= 100"], match: "none" }],
    ["the value is false", { value: "{{steps.trigger.event.total > 1000}}" }],
    ["the value is missing", { value: "{{steps.trigger.event.nothing}}" }],
  ])("ends the run if %s", async (_, props) => {
    expect(await decide(props)).toMatchObject({ flow: { kind: "exit", reason: "The value does not meet the conditions" } });
    expect(await decide({ ...props, reason: "Too small" })).toMatchObject({
      flow: { kind: "exit", reason: "Too small" },
      exports: { $summary: "Too small" },
    });
  });

  it("fails if a condition cannot be read", async () => {
    await expect(decide({ conditions: ["total"] })).rejects.toThrow("it must look like");
  });
});

describe("headwater-delay", () => {
  const delay = (amount: number, unit?: string) => registry.step("headwater-delay", { amount, ...(unit === undefined ? {} : { unit }) });

  it.each([
    [90, undefined, 90_000],
    [2, "minutes", 120_000],
    [3, "hours", 10_800_000],
    [366, "days", 31_622_400_000],
    [0, "days", 0],
  ])("suspends the run for %s %s", async (amount, unit, ms) => {
    expect((await delay(amount, unit)).flow).toEqual({ kind: "delay", ms });
  });

  it.each([
    [367, "days", "it must be 0 to 366 days"],
    [1, "weeks", "use a number of seconds, minutes, hours, days"],
  ])("refuses %s %s", async (amount, unit, message) => {
    await expect(delay(amount, unit)).rejects.toThrow(message);
  });
});

describe("headwater-transform", () => {
  const transform = (value: unknown, event?: unknown) => registry.step("headwater-transform", { value }, event);

  it("builds an object from expressions, which keep their types", async () => {
    const event = { order: { id: 7, tags: ["new", "eu"] }, name: "Ann" };
    const value = {
      id: "{{steps.trigger.event.order.id}}",
      tags: "{{steps.trigger.event.order.tags}}",
      nested: [{ text: "{{steps.trigger.event.name}} paid" }],
      kept: true,
    };
    expect(await transform(value, event)).toMatchObject({
      result: { id: 7, tags: ["new", "eu"], nested: [{ text: "Ann paid" }], kept: true },
      exports: { $summary: "Returned an object with id, tags, nested, kept" },
    });
  });

  it.each([
    ["{{steps.trigger.event.list}}", [1, 2], "Returned a list of 2"],
    ["{{steps.trigger.event.nothing}}", null, "Returned null"],
    [5, 5, "Returned 5"],
  ])("returns %j as %j", async (value, result, summary) => {
    expect(await transform(value, { list: [1, 2] })).toMatchObject({ result, exports: { $summary: summary } });
  });
});

describe("headwater-emit", () => {
  const emit = (props: Readonly<Record<string, unknown>>, event?: unknown) => registry.step("headwater-emit", props, event);

  it("asks for an event on a channel, with a summary", async () => {
    const props = { event: "{{steps.trigger.event}}", channel: "paid", summary: "Order {{steps.trigger.event.id}}" };
    expect(await emit(props, { id: 7 })).toMatchObject({
      sends: [{ kind: "emit", argument: { raw_event: { id: 7 }, name: "paid", summary: "Order 7" } }],
      exports: { $summary: "Emits an event on paid" },
    });
  });

  it("asks for an event on the default channel", async () => {
    const { sends } = await emit({ event: "text" });
    expect(sends).toEqual([{ kind: "emit", argument: { raw_event: "text" } }]);
  });
});

describe("headwater-respond", () => {
  const respond = (props: Readonly<Record<string, unknown>>) => registry.step("headwater-respond", props, { id: 7 });

  it("responds with status, headers and a body", async () => {
    const props = { status: 201, headers: { "X-Id": 7 }, body: { id: "{{steps.trigger.event.id}}" } };
    const { response, exports } = await respond(props);
    expect(response).toMatchObject({ status: 201, body: '{"id":7}' });
    expect(JSON.stringify(response).toLowerCase()).toContain("x-id");
    expect(exports).toEqual({ $summary: "Responded with 201" });
  });

  it("responds with 200 and no body by default", async () => {
    expect((await respond({})).response).toMatchObject({ status: 200, body: "" });
  });

  it("responds at once if configured", async () => {
    expect((await respond({ immediate: true })).response).toBeNull();
  });
});
