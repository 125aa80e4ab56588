import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { webhookKind } from "../../../crds/webhook.ts";
import { keys } from "./support.ts";
import { withRepairWorld, type Received } from "./webhooks-support.ts";
import { until } from "../../support/until.ts";

const world = withRepairWorld();
const { api } = world;
const url = "https://example.com/hook";

const put = (id: string, body: unknown) => api.ask("PUT", `/v1/webhooks/${id}`, { body });
const rotate = async (id: string, query = "") => (await api.ask("POST", `/v1/webhooks/${id}/rotate_key${query}`)).body.data;

function verifies({ body, headers }: Received, signingKey: string): boolean {
  try {
    new Webhook(signingKey).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

/** `x-pd-signature`, as published receivers check it: they know the signing key as a text and nothing of its form. */
function verifiesOlder({ body, headers }: Received, signingKey: string): boolean {
  const [t = "", ...signatures] = (headers["x-pd-signature"] ?? "").split(",");
  const hmac = createHmac("sha256", signingKey).update(`${t.slice(2)}.${body}`);
  return signatures.includes(`v1=${hmac.digest("hex")}`);
}

describe("a webhook", () => {
  it("is returned as at its creation, without its key", async () => {
    const { body } = await api.ask("POST", `/v1/webhooks?url=${url}&name=mine`);
    const { signing_key, user_id, ...made } = body.data;
    expect(await world.get(`/v1/webhooks/${made.id}`)).toEqual({ data: made });
    expect([typeof signing_key, user_id]).toEqual(["string", "u_ada"]);
  });

  it("changes the given fields, and keeps the rest", async () => {
    const { id } = await world.createWebhook(url);
    const changed = await put(id, { name: "new", description: "for tests", unknown: 1 });
    expect(changed.body.data).toMatchObject({ id, user_id: "u_ada", name: "new", description: "for tests", url, active: true });
    expect(changed.text).not.toContain("whsec_");
    expect((await put(id, { url: "https://example.com/other", name: null })).body.data).toMatchObject({
      name: null,
      description: "for tests",
      url: "https://example.com/other",
    });
    expect((await api.ask("PUT", `/v1/webhooks/${id}?active=false`)).body.data).toMatchObject({ active: false, description: "for tests" });
    await world.observe(id);
    const { data } = await world.get(`/v1/webhooks/${id}`);
    expect(data).toMatchObject({ active: false, url: "https://example.com/other" });
    expect(data.updated_at).toBeGreaterThanOrEqual(data.created_at);
    expect((await api.store.findById(webhookKind, id))?.spec.signingKeys).toHaveLength(1);
    for (const body of [{ url: "ftp://x.test" }, { url: null }, { active: "maybe" }, { name: "x".repeat(256) }])
      expect((await put(id, body)).status).toBe(422);
  });

  it("is ordered from its creation or later, and delivery is notified", async () => {
    const { body } = await api.ask("POST", `/v1/webhooks?url=${url}&ordered=true`);
    expect(body.data.ordered).toBe(true);
    const { id } = await world.createWebhook(url);
    const isTold = async () => {
      await world.observe(id);
      const listener = (await world.routeOf(id))?.listener;
      return listener?.kind === "webhook" && listener.ordered === true;
    };
    expect([(await world.get(`/v1/webhooks/${id}`)).data.ordered, await isTold()]).toEqual([false, false]);
    expect([(await put(id, { ordered: true })).body.data.ordered, await isTold()]).toEqual([true, true]);
    expect((await put(id, { name: "still" })).body.data.ordered).toBe(true);
    expect((await api.ask("PUT", `/v1/webhooks/${id}?ordered=false`)).body.data.ordered).toBe(false);
    expect([(await world.get(`/v1/webhooks/${id}`)).data.ordered, await isTold()]).toEqual([false, false]);
    expect((await put(id, { ordered: "perhaps" })).status).toBe(422);
  });

  it("that was changed has the time of the change", async () => {
    const { id } = await world.createWebhook(url);
    const stored = await api.store.findById(webhookKind, id);
    expect(stored?.status.updatedAt).toBe(Date.parse(stored?.metadata.creationTimestamp ?? ""));
    await put(id, { name: "new" });
    await world.observe(id);
    expect((await api.store.findById(webhookKind, id))?.status.updatedAt).toBeGreaterThan(stored?.status.updatedAt ?? 0);
  });

  it("returns 404 for other users", async () => {
    const { id } = await world.createWebhook(url);
    const asked = [
      ["GET", ""],
      ["PUT", ""],
      ["POST", "/rotate_key"],
      ["DELETE", "/previous_key"],
      ["POST", "/test"],
    ] as const;
    for (const [method, path] of asked) {
      expect([path, (await api.ask(method, `/v1/webhooks/${id}${path}`, { key: keys.bob })).status]).toEqual([path, 404]);
      expect([path, (await api.ask(method, `/v1/webhooks/wh_none${path}`)).status]).toEqual([path, 404]);
    }
    expect((await api.store.findById(webhookKind, id))?.spec.signingKeys).toHaveLength(1);
  });

  it("whose URL has credentials authenticates with them, and never shows them", async () => {
    await world.deliver();
    const receiver = await world.receive();
    const { host, pathname } = new URL(receiver.url);
    const shown = `http://***@${host}${pathname}`;
    const made = await api.ask("POST", `/v1/webhooks?url=${encodeURIComponent(`http://ada:s%40cret-1@${host}${pathname}`)}`);
    expect([made.status, made.body.data.url]).toEqual([200, shown]);
    const { id } = made.body.data;
    await world.observe(id);
    const posted = async (): Promise<string | undefined> => {
      expect((await api.ask("POST", `/v1/webhooks/${id}/test`)).body.data).toMatchObject({ outcome: "delivered" });
      return receiver.received.at(-1)?.headers["authorization"];
    };
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
    expect(await posted()).toBe(basic("ada:s@cret-1"));

    const change = async (url: string): Promise<unknown> => {
      const { status, body, text } = await api.ask("PUT", `/v1/webhooks/${id}`, { body: { url } });
      expect(text).not.toMatch(/cret-|other-2/);
      await world.observe(id);
      return status === 200 ? body.data.url : [status, body.code];
    };
    expect([await change(shown), await posted()]).toEqual([shown, basic("ada:s@cret-1")]);
    expect([await change(`${shown}/more`), await posted()]).toEqual([`${shown}/more`, basic("ada:s@cret-1")]);
    expect(await change("http://***@127.0.0.2:1/")).toEqual([422, "credentials_missing"]);
    expect(await change("http://ada:%zz@127.0.0.1/")).toEqual([422, "invalid_input"]);
    expect([await change(`http://token@${host}/`), await posted()]).toEqual([`http://***@${host}/`, basic("token:")]);
    expect([await change(`http://ada:other-2@${host}/`), await posted()]).toEqual([`http://***@${host}/`, basic("ada:other-2")]);
    // A rotation of the signing key leaves them alone.
    await rotate(id);
    await world.observe(id);
    expect(await posted()).toBe(basic("ada:other-2"));

    const { rows } = await world.query("select spec::text as spec, status::text as status from resources where public_id = $1", id);
    const everything = JSON.stringify([rows, await world.routeOf(id), await world.get(`/v1/webhooks/${id}/deliveries`)]);
    for (const secret of ["other-2", Buffer.from("ada:other-2").toString("base64")]) expect(everything).not.toContain(secret);
    expect([await change(receiver.url), await posted()]).toEqual([receiver.url, undefined]);
    expect(await change(shown)).toEqual([422, "credentials_missing"]);
    expect((await api.ask("POST", `/v1/webhooks?url=${encodeURIComponent(shown)}`)).body.code).toBe("credentials_missing");
  });

  it("that is deleted leaves no routes, deliveries or dead letters", async () => {
    world.waits = [];
    await world.deliver();
    const receiver = await world.receive();
    receiver.status = 500;
    const { id } = await world.subscribedWebhook(receiver.url);
    await world.emit({ n: 1 });
    await until(async () => (await world.get(`/v1/webhooks/${id}/dead_letters`)).data.length === 1, "a dead letter");
    await until(async () => (await world.get(`/v1/webhooks/${id}/deliveries`)).data.length === 1, "an attempt");
    expect((await api.ask("DELETE", `/v1/webhooks/${id}`)).status).toBe(204);
    await world.observe(id);
    expect(await api.store.findById(webhookKind, id)).toBeUndefined();
    expect(await world.routeOf(id)).toBeUndefined();
    const { rows } = await world.query(
      "select webhook from attempts where webhook = $1 union all select webhook from dead_letters where webhook = $1",
      id,
    );
    expect(rows).toEqual([]);
  });
});

describe("a rotation of the key", () => {
  it("signs with both keys until the overlap ends, then with the new one only", async () => {
    await world.deliver();
    const receiver = await world.receive();
    const webhook = await world.subscribedWebhook(receiver.url);
    const old = webhook.signing_key;
    const rotated = await rotate(webhook.id);
    expect(rotated.previous_key_until * 1_000 - Date.now()).toBeGreaterThan(23 * 3_600_000);
    expect(rotated.signing_key).toMatch(/^whsec_/);
    await world.observe(webhook.id);
    await world.emit({ n: 1 });
    await until(() => receiver.received.length === 1, "a delivery");
    const [both] = receiver.received as [Received]; // One was received.
    for (const key of [rotated.signing_key, old]) expect([verifies(both, key), verifiesOlder(both, key)]).toEqual([true, true]);

    // Of the key before the one before nothing is left.
    const next = await rotate(webhook.id, "?overlap_seconds=1");
    await world.observe(webhook.id);
    const until1 = next.previous_key_until * 1_000;
    await until(() => Date.now() > until1 + 1_000, "the overlap ends");
    await world.observe(webhook.id);
    await world.emit({ n: 2 });
    await until(() => receiver.received.length === 2, "another delivery");
    const last = receiver.received[1] as Received; // Just waited for.
    expect([next.signing_key, rotated.signing_key, old].map((key) => verifies(last, key))).toEqual([true, false, false]);
    expect([next.signing_key, rotated.signing_key].map((key) => verifiesOlder(last, key))).toEqual([true, false]);
  });

  it("ends immediately on request, or with an overlap of 0", async () => {
    const { id } = await world.createWebhook(url);
    const keysOf = async () => (await api.store.findById(webhookKind, id))?.spec;
    const first = await keysOf();
    await rotate(id);
    const both = await keysOf();
    expect(both?.signingKeys).toHaveLength(2);
    expect(both?.signingKeys[1]).toEqual(first?.signingKeys[0]);
    const ended = await api.ask("DELETE", `/v1/webhooks/${id}/previous_key`);
    expect([ended.status, ended.body.data.previous_key_until]).toEqual([200, null]);
    expect(ended.text).not.toContain("whsec_");
    expect(await keysOf()).toMatchObject({ signingKeys: [both?.signingKeys[0]] });
    expect((await rotate(id, "?overlap_seconds=0")).previous_key_until).toBeNull();
    expect((await keysOf())?.signingKeys).toHaveLength(1);
    expect((await keysOf())?.signingKeys).not.toEqual([both?.signingKeys[0]]);
    for (const overlap of ["-1", "1.5", "soon", "604801"])
      expect((await api.ask("POST", `/v1/webhooks/${id}/rotate_key?overlap_seconds=${overlap}`)).status).toBe(422);
  });

  it("keeps the key that the operator created for a webhook without one", async () => {
    const { id } = await world.createWebhook(url);
    const stored = await api.store.findById(webhookKind, id);
    if (stored === undefined) throw new Error("it is not there");
    await api.store.update(webhookKind, { ...stored, spec: { ...stored.spec, signingKeys: [] } });
    await world.observe(id);
    const made = (await api.store.findById(webhookKind, id))?.status.signingKey;
    expect(made).toBeDefined();
    await rotate(id);
    await world.observe(id);
    expect((await api.store.findById(webhookKind, id))?.spec.signingKeys[1]).toEqual(made);
  });
});

describe("a test", () => {
  it("posts one signed event now, without a subscription, and returns the result", async () => {
    await world.deliver();
    const receiver = await world.receive();
    const webhook = await world.createWebhook(receiver.url);
    const { status, body } = await api.ask("POST", `/v1/webhooks/${webhook.id}/test`);
    expect([status, body.data]).toMatchObject([200, { outcome: "delivered", response_status: 200, cause: null }]);
    expect(body.data.duration_ms).toBeGreaterThanOrEqual(0);
    const [received] = receiver.received as [Received]; // Typed by the check above.
    expect(new Webhook(webhook.signing_key).verify(received.body, received.headers)).toEqual({ test: true, webhook_id: webhook.id });

    receiver.status = 500;
    const failed = await api.ask("POST", `/v1/webhooks/${webhook.id}/test`, { body: { event: ["mine"] } });
    expect(failed.body.data).toMatchObject({ outcome: "failed", response_status: 500, cause: "the endpoint answered 500" });
    expect(receiver.received.map(({ body: text }) => text)[1]).toBe('["mine"]');
    await until(async () => (await world.get(`/v1/webhooks/${webhook.id}/deliveries`)).data.length === 2, "both are listed");
    const { data } = await world.get(`/v1/webhooks/${webhook.id}/deliveries?outcome=dead`);
    expect(data).toMatchObject([{ delivery_id: failed.body.data.delivery_id, source_id: null, subscription_id: null, attempt: 1 }]);
    expect((await world.get(`/v1/webhooks/${webhook.id}/dead_letters`)).data).toEqual([]);
    expect((await api.ask("POST", `/v1/deliveries/${failed.body.data.delivery_id}/retry`)).body.code).toBe("no_dead_letter");
  });

  it("is refused while the webhook is inactive or disabled", async () => {
    await world.deliver();
    const receiver = await world.receive();
    const webhook = await world.createWebhook(receiver.url);
    await put(webhook.id, { active: false });
    expect((await api.ask("POST", `/v1/webhooks/${webhook.id}/test`)).body.code).toBe("webhook_inactive");
    await put(webhook.id, { active: true, url: "http://10.0.0.1/hook" });
    await world.observe(webhook.id);
    const refused = await api.ask("POST", `/v1/webhooks/${webhook.id}/test`);
    expect([refused.status, refused.body.code]).toEqual([409, "webhook_not_ready"]);
    expect(refused.body.error).toContain("10.0.0.1");
    expect(receiver.received).toEqual([]);
  });

  it("waits until a recent change is applied", async () => {
    await world.deliver();
    const [before, after] = [await world.receive(), await world.receive()];
    const webhook = await world.createWebhook(before.url);
    await put(webhook.id, { url: after.url });
    const testing = api.ask("POST", `/v1/webhooks/${webhook.id}/test`);
    await world.observe(webhook.id);
    expect((await testing).body.data).toMatchObject({ outcome: "delivered" });
    expect([before.received.length, after.received.length]).toEqual([0, 1]);
  });

  it("returns 504 if delivery does not run", async () => {
    const webhook = await world.createWebhook(url);
    const { status, body } = await api.ask("POST", `/v1/webhooks/${webhook.id}/test`);
    expect([status, body.code]).toEqual([503, "no_delivery"]);
  });
});

describe("an inactive webhook", () => {
  it("gets no events until it is active again", async () => {
    world.waits = [];
    await world.deliver();
    const [receiver, witness] = [await world.receive(), await world.receive()];
    const webhook = await world.subscribedWebhook(receiver.url);
    await world.subscribedWebhook(witness.url);
    await put(webhook.id, { active: false });
    await world.observe(webhook.id);
    await world.emit({ n: 1 });
    await until(() => witness.received.length === 1, "the other one hears it");
    await put(webhook.id, { active: true });
    await world.observe(webhook.id);
    await world.emit({ n: 2 });
    await until(() => receiver.received.length === 1, "it hears the next one");
    expect(receiver.received[0]?.body).toBe('{"n":2}');
  });
});
