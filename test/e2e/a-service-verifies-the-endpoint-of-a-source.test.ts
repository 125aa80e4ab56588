import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { withFamilies, type Service } from "./support/families-support.ts";
import { until } from "../support/until.ts";
import type { Source } from "../support/system/sources.ts";

/**
 * Services call a new endpoint before they confirm its subscription, so the request of a hook waits for a run of the same source.
 * Method: doubles of two such services. One expects its token as the response, the other one a header; both refuse the subscription
 * without it.
 */
const world = withFamilies();
const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });

describe("a service that sends a token", () => {
  it("receives its token during the hook, during the tick that renews the subscription, and from later runs", async () => {
    const known = new Set<string>();
    const service: Service = await world.serve({
      "POST /subscriptions": async ({ body }) => {
        const answer = await post(`${String(body?.["notificationUrl"])}?validationToken=a%20token`, "");
        const text = await answer.text();
        if (answer.status !== 200 || text !== "a token" || answer.headers.get("content-type") !== "text/plain")
          return { status: 400, body: { error: `validation failed: ${answer.status} ${text}` } };
        const id = `s${known.size + 1}`;
        known.add(id);
        return { status: 201, body: { id, clientState: body?.["clientState"] } };
      },
      "PATCH /subscriptions/*": ({ path }) => (known.has(path.split("/").at(-1) ?? "") ? { body: {} } : { status: 404, body: {} }),
      "DELETE /subscriptions/*": () => ({ status: 204 }),
      "GET /messages/*": ({ path }) => ({ body: { subject: `Mail ${path.slice(10)}`, receivedAt: "2026-01-01T00:00:00Z" } }),
    });
    const mailbox = await world.account("mailbox", { base_url: service.url, oauth_access_token: "t" });
    const source = await world.deployOf("mailbox", "sources/new-mail/new-mail.mjs", { mailbox, folder: "inbox" });
    expect(known).toEqual(new Set(["s1"]));
    const notify = (id: string) =>
      post(source.endpoint, JSON.stringify({ value: [{ clientState: "state-1", resourceData: { id } }, { clientState: "x" }] }));
    expect((await notify("7")).status).toBe(202);
    expect(await world.events(source, 1)).toEqual([{ subject: "Mail 7", receivedAt: "2026-01-01T00:00:00Z" }]);
    known.clear();
    await until(() => known.has("s1"), "a tick renews the subscription");
    await until(async () => (await world.logs(source)).includes("renewed from scratch"), "that tick is committed");
    expect((await notify("8")).status).toBe(202);
    await world.events(source, 2);
    await world.remove(source);
    expect(service.calls()).toContain("DELETE /subscriptions/s1");
  });
});

describe("a service that gives a secret", () => {
  it("receives its secret during the hook, and the source keeps the state of the hook and of that run", async () => {
    const handshakes: (string | null)[] = [];
    const service = await world.serve({
      "POST /webhooks": async ({ body }) => {
        const answer = await post(String(body?.["target"]), "{}", { "x-hook-secret": "s3cret" });
        handshakes.push(answer.headers.get("x-hook-secret"));
        return answer.headers.get("x-hook-secret") === "s3cret" ? { status: 201, body: { data: { gid: "w1" } } } : { status: 400 };
      },
      "DELETE /webhooks/*": () => ({ body: { data: {} } }),
    });
    const tasks = await world.account("tasks", { base_url: service.url, oauth_access_token: "t" });
    const source: Source = await world.deployOf("tasks", "sources/task-changed.mjs", { tasks });
    expect(handshakes).toEqual(["s3cret"]);
    const text = JSON.stringify({ events: [{ action: "added", resource: { gid: "1" }, created_at: "2026-01-01T00:00:00Z" }] });
    const signed = (secret: string) =>
      post(source.endpoint, text, { "x-hook-signature": createHmac("sha256", secret).update(text).digest("hex") });
    await until(async () => (await signed("s3cret")).status === 200, "the source has stored the secret");
    expect((await signed("wrong")).status).toBe(401);
    await world.events(source, 1);
    await world.remove(source);
    expect(service.calls().at(-1)).toBe("DELETE /webhooks/w1");
  });
});
