import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { withFamilies, type Asked } from "./support/families-support.ts";
import { until } from "../support/until.ts";

/**
 * Life cycles of components that resemble public ones (`fixtures/families`): configured with options, deployed, registered with a double
 * of their service, called by it, and deleted.
 */
const world = withFamilies();
const { call } = world.headwater;
const hmac = (algorithm: string, secret: string, text: string, encoding: "hex" | "base64" = "hex"): string =>
  createHmac(algorithm, secret).update(text).digest(encoding);
const post = (url: string, body: string | URLSearchParams, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { ...(typeof body === "string" ? { "content-type": "application/json" } : {}), ...headers },
    body,
  });

interface Issue {
  readonly number: number;
  readonly title: string;
  readonly created_at: string;
}
const issues: readonly Issue[] = Array.from({ length: 30 }, (_, n) => ({
  number: 30 - n,
  title: `Issue ${30 - n}`,
  created_at: new Date(Date.UTC(2026, 0, 30 - n)).toISOString(),
}));

describe("tracker: a webhook for administrators, polling for others", () => {
  const hooks = new Map<string, Asked["body"]>();
  let made = 0;
  const serve = (isAdmin: boolean) =>
    world.serve({
      "GET /repositories": ({ query: { owner, cursor = "0" } }) => ({
        body: { items: [{ id: `${owner}-${cursor}`, name: `${owner} ${cursor}` }], next: String(Number(cursor) + 1) },
      }),
      "GET /repos/*/permission": ({ headers }) => ({ status: headers["x-counted"] === "yes" ? 200 : 400, body: { admin: isAdmin } }),
      "GET /repos/*/issues": ({ query: { page, per_page: size } }) => ({
        body: issues.slice((Number(page) - 1) * Number(size), Number(page) * Number(size)),
      }),
      "POST /repos/*/hooks": ({ body }) => {
        hooks.set(String((made += 1)), body);
        return { status: 201, body: { id: String(made) } };
      },
      "DELETE /repos/*/hooks/*": ({ path }) => (hooks.delete(path.split("/").at(-1) ?? "") ? { status: 204 } : { status: 404, body: {} }),
    });

  it("registers, emits the last 25 issues, checks signatures, and registers again after an update", async () => {
    const service = await serve(true);
    const tracker = await world.account("tracker", { base_url: service.url, oauth_access_token: "t" });
    const props = { tracker, owner: "ada", repository: "engine" };
    const source = await world.deployOf("tracker", "sources/new-issue/new-issue.mjs", props);
    expect(source.endpoint).toContain("http");
    expect((await world.events(source, 25)).map((issue) => (issue as Issue).number)).toEqual(Array.from({ length: 25 }, (_, n) => n + 6));
    const { config } = hooks.get("1") as { config: { url: string; secret: string } };
    expect(config.url).toBe(source.endpoint);
    const send = async (body: object, secret = config.secret): Promise<number> => {
      const text = JSON.stringify(body, null, 2);
      return (await post(source.endpoint, text, { "x-hub-signature-256": `sha256=${hmac("sha256", secret, text)}` })).status;
    };
    const opened = { action: "opened", issue: { number: 31, title: "ü", created_at: "2026-02-01T00:00:00Z" } };
    for (const body of [opened, opened, { action: "edited", issue: opened.issue }]) expect(await send(body)).toBe(200);
    await send({ ...opened, issue: { number: 99 } }, "wrong");
    expect((await world.events(source, 26)).at(-1)).toEqual(opened.issue);
    await until(async () => (await world.logs(source)).includes("the signature is wrong"), "the forged request is logged");
    expect((await call("PUT", `/sources/${source.id}`, { configured_props: { ...props, repository: "loom" } })).status).toBe(200);
    await until(() => !hooks.has("1") && hooks.size > 0, "the new webhook is registered");
    expect(service.calls()).toContain("POST /repos/loom/hooks");
    await world.remove(source);
    await until(() => hooks.size === 0, "no webhook is registered");
  });

  it("polls, and returns options that depend on earlier props", async () => {
    const service = await serve(false);
    const tracker = await world.account("tracker", { base_url: service.url, oauth_access_token: "t" });
    const source = await world.deployOf("tracker", "sources/issue-closed/issue-closed.mjs", { tracker, owner: "bob", repository: "x" });
    expect(source.endpoint).toBe("");
    await world.succeed({}, source);
    expect(await world.events(source, 30)).toHaveLength(30);
    const { body } = await call<{ data: { component_id: string; configured_props: { timer: unknown } } }>("GET", `/sources/${source.id}`);
    expect(body.data.configured_props.timer).toMatchObject({ interval_seconds: 900 });
    const asked = { prop_name: "repository", configured_props: { tracker, owner: "bob" } };
    const first = await call<{ data: { options: unknown; context: { cursor: string } } }>(
      "POST",
      `/components/${body.data.component_id}/options`,
      asked,
    );
    expect(first.body.data, first.text).toMatchObject({ options: [{ label: "bob 0", value: "bob-0" }], context: { cursor: "1" } });
    await world.remove(source);
    expect(hooks.size).toBe(0);
  });
});

it("phone: accepts forms signed over URL and fields, and responds in XML", async () => {
  const urls: (string | null)[] = [];
  const service = await world.serve({
    "POST /numbers/*": ({ text, headers }) => {
      urls.push(new URLSearchParams(text).get("SmsUrl"));
      return { status: headers.authorization === `Basic ${btoa("sid:secret")}` ? 200 : 401, body: { ok: true } };
    },
  });
  const phone = await world.account("phone", { base_url: service.url, Sid: "sid", Secret: "secret" });
  const source = await world.deployOf("phone", "sources/new-sms.mjs", { phone, number: "PN1", authToken: "s3cret" });
  const fields = { MessageSid: "SM1", Body: "Grüße & mehr", From: "+49", "Media[0]": "x" };
  const signed = (token: string): string =>
    hmac("sha1", token, Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)).reduce((all, [name, value]) => all + name + value, `${source.endpoint}/`), "base64"); // prettier-ignore
  for (const token of ["s3cret", "wrong"]) {
    const answer = await post(`${source.endpoint}/`, new URLSearchParams(fields), { "x-phone-signature": signed(token) });
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([200, "text/xml", "<Response/>"]);
  }
  expect(await world.events(source, 1)).toEqual([fields]);
  await until(async () => (await world.logs(source)).includes("could not be validated"), "the forged request is logged");
  await world.remove(source);
  expect(urls).toEqual([source.endpoint, ""]);
});

it("list: a CommonJS component responds to the validator's GET during registration and parses fields with brackets", async () => {
  const service = await world.serve({
    "POST /webhooks": async ({ body }) => {
      const { status } = await fetch(String(body?.["url"]), { headers: { "user-agent": "List Validator" } });
      return status === 200 ? { body: { webhook: { id: 7 } } } : { status: 400 };
    },
    "DELETE /webhooks/*": () => ({ status: 204 }),
  });
  const list = await world.account("list", { base_url: service.url });
  const source = await world.deployOf("list", "sources/new-subscriber.js", { list });
  const fields = {
    type: "subscribe",
    "data[id]": "8a25ff1d98",
    "data[email]": "a@b.c",
    "data[merges][FNAME]": "A",
    fired_at: "2026-03-26 21:35:57",
  };
  for (let time = 0; time < 2; time++) expect((await post(source.endpoint, new URLSearchParams(fields))).status).toBe(200);
  expect((await fetch(source.endpoint)).status).toBe(400);
  expect(await world.events(source, 1)).toEqual([fields]);
  expect((await world.stored(source))[0]?.metadata).toMatchObject({ id: "8a25ff1d98", summary: "a@b.c subscribed" });
  await world.remove(source);
  expect(service.calls()).toEqual(["POST /webhooks", "DELETE /webhooks/7"]);
});

describe("guild: props of apps, and apphooks", () => {
  it("has its prop values, and runs with the event it receives", async () => {
    const guild = await world.account("guild", { oauth_access_token: "t" });
    const source = await world.deployOf("guild", "sources/new-message.mjs", { guild, channels: ["1", "2"], table: "b1" });
    await world.succeed({ id: "m1", guildId: "g1" }, source);
    expect(await world.events(source, 1)).toEqual([{ id: "m1", guildId: "g1", channels: ["1", "2"], table: "b1" }]);
  });

  it("emits the event of an apphook when it has no run", async () => {
    const source = await world.deployOf("guild", "sources/data-request.mjs", { guild: await world.account("guild", {}) });
    await world.succeed({ shop: "x" }, source);
    expect(await world.events(source, 1)).toEqual([{ shop: "x" }]);
  });
});

it("issues: replaces existing hooks page by page, renews them by a hidden timer, and dedupes by the greatest time", async () => {
  const left = [1, 2, 3];
  const service = await world.serve({
    "GET /webhook": ({ query: { startAt } }) => ({
      body: { values: [1, 2, 3].slice(Number(startAt), Number(startAt) + 2).map((id) => ({ id })) },
    }),
    "DELETE /webhook/*": ({ path }) => (left.splice(left.indexOf(Number(path.slice(9))), 1), { status: 204 }),
    "POST /webhook": () => (left.push(9), { body: { hookId: 9 } }),
    "PUT /webhook/refresh": ({ text }) => ({ body: { ids: JSON.parse(text) as unknown } }),
  });
  const account = await world.account("issues", { base_url: service.url });
  const source = await world.deployOf("issues", "sources/issue-created.mjs", { issues: account, overrideExisting: true });
  expect(left).toEqual([9]);
  for (const timestamp of [5, 7, 6]) {
    expect((await post(source.endpoint, JSON.stringify({ timestamp, issue: { key: `K-${timestamp}` } }))).status).toBe(200);
  }
  expect((await world.events(source, 2)).map((event) => (event as { issue: unknown }).issue)).toEqual([{ key: "K-5" }, { key: "K-7" }]);
  expect((await world.succeed({ timestamp: 1, interval_seconds: 604_800 }, source)).result).toEqual({ ids: [9] });
  await world.remove(source);
  expect(left).toEqual([]);
});

it("meetings: answers a challenge with a digest, checks signatures over time and body, and responds without a body", async () => {
  const secret = "zoom";
  const source = await world.deployOf("meetings", "sources/meeting-ended.js", {
    meetings: await world.account("meetings", { secret_token: secret }),
  });
  const challenge = await post(source.endpoint, JSON.stringify({ event: "endpoint.url_validation", payload: { plainToken: "p" } }));
  expect(await challenge.json()).toEqual({ plainToken: "p", encryptedToken: hmac("sha256", secret, "p") });
  const text = JSON.stringify({
    event: "meeting.ended",
    payload: { object: { uuid: "u==", topic: "T", end_time: "2026-01-01T00:00:00Z" } },
  });
  const headers = (key: string) => ({ "x-request-timestamp": "1", "x-signature": `v0=${hmac("sha256", key, `v0:1:${text}`)}` });
  expect((await post(source.endpoint, text, headers("wrong"))).status).toBe(401);
  expect((await post(source.endpoint, text, headers(secret))).status).toBe(204);
  expect(await world.events(source, 1)).toMatchObject([{ event: "meeting.ended" }]);
  await world.remove(source);
});
