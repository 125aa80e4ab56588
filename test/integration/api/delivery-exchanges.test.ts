import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "./support.ts";
import { withRepairWorld } from "./webhooks-support.ts";
import { until } from "../../support/until.ts";

/** What attempts at webhooks sent and received, from a real receiver to the answer of the API. */
const world = withRepairWorld();
const { api } = world;

interface Header {
  readonly name: string;
  readonly value: string;
}

let source = "";
beforeEach(async () => {
  const code = { component_code: `name: Exchanges; key: exchanges`, name: `exchanges ${Math.random()}` };
  source = (await api.ask("POST", "/v1/sources", { body: code })).body.data.id;
});

const emit = (...values: readonly unknown[]) => world.emitFrom(source, ...values);
const attempts = async (webhook: string) => (await world.get(`/v1/webhooks/${webhook}/deliveries`)).data;

/** Ids of deliveries to the webhook once so many attempts are listed, newest first. */
async function untilAttempted(webhook: string, count: number): Promise<readonly string[]> {
  await until(async () => (await attempts(webhook)).length === count, `${count} attempts`);
  return (await attempts(webhook)).map(({ delivery_id: id }: { readonly delivery_id: string }) => id);
}

describe("GET /deliveries/{id}", () => {
  it("returns the request exactly as it was sent, and the response of each attempt, newest first", async () => {
    world.waits = [10];
    await world.deliver();
    const receiver = await world.receive();
    Object.assign(receiver, { status: 200, nextStatus: 503, answer: { headers: { "x-reason": "busy" }, body: "wörld" } });
    const webhook = await world.subscribedWebhook(receiver.url);
    await emit({ text: "ä\0b\ud83d", "": [1.0, -0] });
    const [id = ""] = await untilAttempted(webhook.id, 2);
    await until(async () => (await world.get(`/v1/deliveries/${id}`)).data.body !== null, "the event is recorded");
    const { data } = await world.get(`/v1/deliveries/${id}`);
    expect(data).toMatchObject({ delivery_id: id, webhook_id: webhook.id, source_id: source, event_name: "", state: "delivered" });
    expect(data.attempts.map((each: { attempt: number; response_status: number }) => [each.attempt, each.response_status])).toEqual([
      [2, 200],
      [1, 503],
    ]);
    for (const [n, attempt] of data.attempts.toReversed().entries()) {
      const { body, headers } = receiver.received[n] ?? { body: "", headers: {} };
      expect(data.body).toBe(body);
      expect(attempt.request).toMatchObject({ method: "POST", url: receiver.url });
      const sent = Object.fromEntries(attempt.request.headers.map(({ name, value }: Header) => [name, value]));
      const { host: _host, connection: _connection, "content-length": _length, ...expected } = headers;
      expect(sent).toEqual(expected);
      new Webhook(webhook.signing_key).verify(data.body, sent);
      expect(attempt.response).toMatchObject({ body: "wörld", body_encoding: "utf-8", body_cut: false, headers_cut: false });
      expect(attempt.response.headers).toContainEqual({ name: "x-reason", value: "busy" });
    }
    const [listed] = await attempts(webhook.id);
    expect(Object.keys(listed)).not.toContain("request");
  });

  it("returns hostile responses cut, as base64, and without the webhook's credentials", async () => {
    world.waits = [];
    await world.deliver();
    const receiver = await world.receive();
    const webhook = await world.subscribedWebhook(receiver.url.replace("http://", "http://someone:a%20long%20password@"));
    const secret = Buffer.from("someone:a long password").toString("base64");
    const bodies = [Buffer.from([0, 0xff, 0x41]), "x".repeat(20_000), `Basic ${secret} a long password`];
    const responses: unknown[] = [];
    for (const [n, body] of bodies.entries()) {
      receiver.answer = { body, headers: { "set-cookie": "session=secret" } };
      await emit({ n });
      const [id = ""] = await untilAttempted(webhook.id, n + 1);
      const { data } = await world.get(`/v1/deliveries/${id}`);
      const [{ request, response }] = data.attempts;
      responses.push(response);
      expect(request).toMatchObject({ url: receiver.url, headers: expect.arrayContaining([{ name: "authorization", value: "***" }]) });
      expect(response.headers).toContainEqual({ name: "set-cookie", value: "***" });
      expect(JSON.stringify(data)).not.toContain(secret);
    }
    expect(responses).toMatchObject([
      { body: "AP9B", body_encoding: "base64", body_cut: false },
      { body: "x".repeat(16_384), body_encoding: "utf-8", body_cut: true },
      { body: "Basic *** ***", body_cut: false },
    ]);
    expect(receiver.received[0]?.headers["authorization"]).toBe(`Basic ${secret}`);
  });

  it("returns the body of a dead letter, and of a test none", async () => {
    world.waits = [];
    await world.deliver();
    const receiver = await world.receive();
    receiver.status = 500;
    const webhook = await world.subscribedWebhook(receiver.url);
    await emit({ n: 1 });
    const [id = ""] = await untilAttempted(webhook.id, 1);
    await until(async () => (await world.get(`/v1/deliveries/${id}`)).data.state === "dead", "a dead letter");
    await api.ask("DELETE", `/v1/sources/${source}`);
    expect((await world.get(`/v1/deliveries/${id}`)).data).toMatchObject({ body: '{"n":1}', attempts: [{ outcome: "dead" }] });
    const { body } = await api.ask("POST", `/v1/webhooks/${webhook.id}/test`, { body: { event: 1 } });
    await untilAttempted(webhook.id, 2);
    expect((await world.get(`/v1/deliveries/${body.data.delivery_id}`)).data).toMatchObject({
      source_id: null,
      body: null,
      attempts: [{ request: { url: receiver.url }, response_status: 500 }],
    });
  });

  it("returns what an earlier version has recorded without requests and responses", async () => {
    const webhook = await world.createWebhook("http://127.0.0.1:9/");
    await world.query(
      `insert into attempts (webhook, delivery, attempt, source, event, at_ms, record) values ($1, 'e.old', 1, $2, '1-0', 1, $3)`,
      webhook.id,
      source,
      JSON.stringify({ delivery: "e.old", webhook: webhook.id, subscription: "sub_1", source, event: "1-0", channel: "", attempt: 1 }),
    );
    const { data } = await world.get("/v1/deliveries/e.old");
    expect(data).toMatchObject({ body: null, attempts: [{ attempt: 1, request: null, response: null }] });
  });

  it("is not found for others, nor after the webhook was deleted", async () => {
    world.waits = [];
    await world.deliver();
    const receiver = await world.receive();
    const webhook = await world.subscribedWebhook(receiver.url);
    await emit({ n: 1 });
    const [id = ""] = await untilAttempted(webhook.id, 1);
    const hers = await api.ask("GET", `/v1/deliveries/${id}`, { key: keys.bob });
    const none = await api.ask("GET", `/v1/deliveries/${id}x`, { key: keys.bob });
    expect([hers.status, hers.body.error]).toEqual([404, none.body.error.replace(`${id}x`, id)]);
    await world.remove(webhook.id);
    expect((await api.ask("GET", `/v1/deliveries/${id}`)).status).toBe(404);
    const { rows } = await world.query("select from attempts where webhook = $1", webhook.id);
    expect(rows).toEqual([]);
  });
});
