import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../support/cpu-time.ts";
import { keys, withApi, type Ask } from "./support.ts";

/** What an answer says about mistakes has a bound, and so has the work for it: a request can have a hundred thousand mistakes. */
const api = withApi();
const count = 15_000;
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [String(index).padStart(9, "f"), value]));

/** CPU time of a request, in this process, in multiples of the time that reading its JSON takes. */
async function ask(method: string, path: string, body: object, how: Ask = {}) {
  const text = JSON.stringify(body);
  const once = cpuMsOf(() => void JSON.parse(text), 5);
  const before = process.cpuUsage();
  const answer = await api.ask(method, path, { key: keys.ada, body, ...how });
  const { user, system } = process.cpuUsage(before);
  return { ...answer, bytes: Buffer.byteLength(answer.text), cost: (user + system) / 1_000 / Math.max(1, once) };
}

/** A few times what such a request costs; work that grows with the square of its fields takes thousands of times. */
const maxCost = 500;

describe("a request with very many mistakes", () => {
  test("in unknown fields gets twenty warnings", async () => {
    const { status, body, bytes, cost } = await ask("POST", "/v1/webhooks", { ...fieldsOf(1), url: "https://example.com/" });
    expect([status, body.warnings.length]).toEqual([200, 20]);
    expect(bytes).toBeLessThan(64 * 1024);
    expect(cost).toBeLessThan(maxCost);
  });

  test("in unknown fields of a deletion is refused without a search for hints", async () => {
    const { body: made } = await api.ask("POST", "/v1/webhooks", { key: keys.ada, body: { url: "https://example.com/" } });
    const { status, body, cost } = await ask("DELETE", `/v1/webhooks/${made.data.id}`, fieldsOf(1));
    expect([status, body.error]).toEqual([
      422,
      `nothing was deleted: DELETE /v1/webhooks/{id} does not know ${count} of the given names: send at most 50`,
    ]);
    expect(cost).toBeLessThan(maxCost);
  });

  test("in credentials is refused by their number", async () => {
    const { status, body, bytes, cost } = await ask("POST", "/v1/accounts", { app: "github", credentials: fieldsOf(5) });
    expect([status, body.error]).toEqual([422, "credentials is invalid: it must have at most 50 fields"]);
    expect(bytes).toBeLessThan(1_000);
    expect(cost).toBeLessThan(maxCost);
  });

  test("in values gets a hundred details", async () => {
    const { status, body, bytes, cost } = await ask("POST", "/v1/components", { component_files: fieldsOf(5) });
    expect([status, body.details.length]).toEqual([422, 100]);
    expect(bytes).toBeLessThan(64 * 1024);
    expect(cost).toBeLessThan(maxCost);
  });

  test("in the files of a component is refused by their number", async () => {
    const { status, body, cost } = await ask("POST", "/v1/components", { component_files: fieldsOf("x"), component_entry: "a" });
    expect([status, body.code, body.details]).toEqual([413, "too_many_files", { files: count - 1, limit: 200 }]);
    expect(cost).toBeLessThan(maxCost);
  });

  test("in props of a source gets a hundred details", async () => {
    const { status, body, bytes, cost } = await ask("POST", "/v1/sources", {
      component_code: "name: Many; props: timer city",
      configured_props: fieldsOf(5),
    });
    expect([status, body.code, body.details.length]).toEqual([422, "invalid_props", 100]);
    expect(bytes).toBeLessThan(64 * 1024);
    expect(cost).toBeLessThan(maxCost);
  });
});
