import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { autoSubscriptionKind } from "../../../crds/auto-subscription.ts";
import { finalizer, type Resource } from "../../../crds/resource.ts";
import { sourceKind } from "../../../crds/source.ts";
import { subscriptionKind } from "../../../crds/subscription.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { covers } from "../../../operator/auto-subscription/made.ts";
import { acme, ada, keys, withApi, type Ask } from "./support.ts";
import { until } from "../../support/until.ts";

const api = withApi();
const path = "/v1/auto_subscriptions";
const data = async (method: string, at: string, ask?: Ask) => (await api.ask(method, at, ask)).body.data;
const newWebhook = async (query = "", key: string = keys.ada): Promise<string> =>
  (await data("POST", `/v1/webhooks?url=https://x.test${query}`, { key })).id;
const newSource = async (name: string, query = ""): Promise<string> =>
  (await data("POST", `/v1/sources${query}`, { body: { component_code: `name: ${name}` } })).id;
const resourceOf = async (id: string) => (await api.store.findById(autoSubscriptionKind, id)) ?? expect.fail(`${id} is not there`);

describe("an auto-subscription", () => {
  test("is created from the query or the body, and the query takes precedence", async () => {
    const [one, other] = [await newWebhook(), await newWebhook()];
    const { status, body } = await api.ask("POST", `${path}?event_name=%24errors&listener_id=${one}`);
    expect(status).toBe(200);
    expect(body).toEqual({ data: { id: expect.stringMatching(/^asub_[0-9a-z]{12}$/), listener_id: one, event_name: "$errors" } });
    expect((await resourceOf(body.data.id)).spec).toEqual({ channel: "$errors", listener: one });
    const inBody = await data("POST", `${path}/`, { body: { event_name: "$logs", listener_id: other } });
    expect(inBody).toMatchObject({ listener_id: other, event_name: "$logs" });
    const mixed = { body: { event_name: "$logs", listener_id: other } };
    expect(await data("POST", `${path}?event_name=$errors&listener_id=${one}`, mixed)).toEqual(body.data);
  });

  test("is created once by equal requests, also concurrent ones", async () => {
    const webhook = await newWebhook();
    const asked = Array.from({ length: 4 }, () => data("POST", `${path}?event_name=$logs&listener_id=${webhook}`));
    const ids = new Set((await Promise.all(asked)).map(({ id }) => id));
    expect(ids.size).toBe(1);
    const { items } = await api.store.list(autoSubscriptionKind, { namespace: namespaceOfOwner(ada.id) });
    expect(items.filter(({ spec }) => spec.listener === webhook)).toHaveLength(1);
  });

  test("created with kubectl is found and not created again", async () => {
    const webhook = await newWebhook();
    const namespace = namespaceOfOwner(ada.id);
    const given = { namespace, name: "by-hand", spec: { channel: "$errors", listenerRef: { kind: "Webhook", name: "x" } } } as const;
    const made = await api.store.create(autoSubscriptionKind, given);
    await api.store.updateStatus(autoSubscriptionKind, { ...made, status: { id: "asub_byhand", listener: webhook } });
    expect(await data("POST", `${path}?event_name=$errors&listener_id=${webhook}`)).toEqual({
      id: "asub_byhand",
      listener_id: webhook,
      event_name: "$errors",
    });
  });

  test("covers sources created after it, and no existing ones", async () => {
    const webhook = await newWebhook();
    const earlier = await newSource("Earlier");
    const { id } = await data("POST", `${path}?event_name=$errors&listener_id=${webhook}`);
    const later = await newSource("Later");
    // With the status that its reconciler reports.
    const auto = await resourceOf(id);
    const reported = { ...auto, status: { since: auto.metadata.creationTimestamp, listener: webhook } };
    const isCovered = async (source: string) =>
      covers(reported, (await api.store.findById(sourceKind, source)) ?? expect.fail(`${source} is not there`));
    expect([await isCovered(earlier), await isCovered(later)]).toEqual([false, true]);
    const { items } = await api.store.list(subscriptionKind);
    expect(items.filter(({ spec }) => spec.listener === webhook)).toEqual([]);
  });

  test("is created a second after existing sources if times are whole seconds", async () => {
    const key = keys.bob;
    const webhook = await newWebhook("", key);
    const source = (await data("POST", "/v1/sources", { key, body: { component_code: "name: Whole second" } })).id;
    // As Kubernetes keeps them.
    await sql`update resources set created_at = date_trunc('second', clock_timestamp()) where public_id = ${source}`.execute(
      api.database.db,
    );
    const { id } = await data("POST", `${path}?event_name=$logs&listener_id=${webhook}`, { key });
    const secondOf = (resource: Resource | undefined): number => Math.floor(Date.parse(resource?.metadata.creationTimestamp ?? "") / 1_000);
    const there = secondOf(await api.store.findById(sourceKind, source));
    expect(secondOf(await resourceOf(id))).toBeGreaterThan(there);
  });

  test("of an organization is visible to members and accepts only the organization's listeners", async () => {
    const [mine, theirs] = [await newWebhook(), await newWebhook(`&org_id=${acme.id}`)];
    const ask = (listener: string, rest: string, key: string = keys.ada) =>
      api.ask("POST", `${path}?event_name=$errors&listener_id=${listener}${rest}`, { key });
    const made = await ask(theirs, `&org_id=${acme.id}`);
    expect(made.status).toBe(200);
    expect((await resourceOf(made.body.data.id)).metadata.namespace).toBe(namespaceOfOwner(acme.id));
    expect((await ask(theirs, `&workspace_id=${acme.id}`)).body).toEqual(made.body);
    for (const plural of ["orgs", "workspaces"])
      expect(await data("GET", `/v1/${plural}/${acme.id}/auto_subscriptions`)).toEqual([made.body.data]);
    expect((await ask(mine, `&org_id=${acme.id}`)).status).toBe(403);
    expect((await ask(theirs, "")).status).toBe(200); // A member hears in their own name what is theirs.
    expect((await ask(theirs, `&org_id=${acme.id}`, keys.bob)).status).toBe(403);
    expect((await ask(theirs, "", keys.bob)).status).toBe(404);
    expect((await api.ask("GET", `/v1/orgs/${acme.id}/auto_subscriptions`, { key: keys.bob })).status).toBe(403);
  });

  test("is refused for unknown, foreign and invalid listeners, and for other channels", async () => {
    const [mine, bobs] = [await newWebhook(), await newWebhook("", keys.bob)];
    const cases: readonly [string, number][] = [
      [`event_name=$errors&listener_id=${bobs}`, 404],
      ["event_name=$errors&listener_id=wh_none", 404],
      ["event_name=$errors&listener_id=dc_none", 404],
      ["event_name=$errors&listener_id=p_none", 404],
      ["event_name=$errors&listener_id=dc_*", 422],
      ["event_name=$errors&listener_id=", 422],
      [`event_name=$errors&listener_id=${acme.id}`, 422],
      ["event_name=$errors", 422],
      [`listener_id=${mine}`, 422],
      [`event_name=&listener_id=${mine}`, 422],
      [`event_name=news&listener_id=${mine}`, 422],
      [`event_name=$errors&event_name=$logs&listener_id=${mine}`, 422],
    ];
    for (const [query, status] of cases) expect([query, (await api.ask("POST", `${path}?${query}`)).status]).toEqual([query, status]);
    const { error } = (await api.ask("POST", `${path}?event_name=news&listener_id=${mine}`)).body;
    expect(error).toBe("event_name is invalid: it must be $errors or $logs");
  });
});

describe("the auto-subscriptions of a user", () => {
  test("are listed newest first, whole or in pages, only for their owner", async () => {
    const key = keys.bob;
    const webhook = await newWebhook("", key);
    const errors = await data("POST", `${path}?event_name=$errors&listener_id=${webhook}`, { key });
    const logs = await data("POST", `${path}?event_name=$logs&listener_id=${webhook}`, { key });
    const list = async (query: string) => (await api.ask("GET", `/v1/users/me/auto_subscriptions${query}`, { key })).body;
    const own = (await list("/")).data.filter(({ listener_id }: { listener_id: string }) => listener_id === webhook);
    expect(own).toEqual([logs, errors]);
    const page = await list("?limit=1");
    expect([page.data, page.page_info.count]).toEqual([[logs], 1]);
    expect((await list(`?limit=1&after=${page.page_info.end_cursor}&include=event_name`)).data).toEqual([{ event_name: "$errors" }]);
    expect((await data("GET", "/v1/users/me/auto_subscriptions")).map(({ id }: { id: string }) => id)).not.toContain(logs.id);
  });

  test("are deleted by the parameters of their creation, and can be created again", async () => {
    const webhook = await newWebhook();
    const query = `?event_name=$logs&listener_id=${webhook}`;
    const made = await data("POST", path + query);
    expect((await api.ask("DELETE", path + query, { key: keys.bob })).status).toBe(404);
    const ended = await api.ask("DELETE", path + query);
    expect([ended.status, ended.body.data]).toEqual([200, made]);
    const again = await api.ask("DELETE", path, { body: { event_name: "$logs", listener_id: webhook } });
    expect([again.status, again.body.error]).toEqual([404, `no auto-subscription of ${webhook} to $logs is found`]);
    expect(await data("POST", path + query)).toEqual(made);
    expect((await api.ask("DELETE", path)).status).toBe(422);
  });

  test("of an organization are deleted without org_id as well", async () => {
    const webhook = await newWebhook(`&org_id=${acme.id}`);
    const query = `?event_name=$logs&listener_id=${webhook}`;
    const made = await data("POST", `${path}${query}&org_id=${acme.id}`);
    expect(await data("DELETE", path + query)).toEqual(made);
  });

  test("are deleted after their subscriptions, and can be created again only then", async () => {
    const webhook = await newWebhook();
    const query = `?event_name=$errors&listener_id=${webhook}`;
    const { id } = await data("POST", path + query);
    const held = await change(await resourceOf(id), [finalizer]);
    const ending = api.ask("DELETE", path + query);
    await until(async () => (await resourceOf(id)).metadata.deletionTimestamp !== undefined);
    expect(await data("GET", "/v1/users/me/auto_subscriptions?include=id")).not.toContainEqual({ id });
    const making = data("POST", path + query);
    await change(await resourceOf(id), []);
    expect([(await ending).status, (await making).id]).toEqual([200, id]);
    expect((await resourceOf(id)).metadata.uid).not.toBe(held.metadata.uid);
  });

  test("are deleted with their webhook", async () => {
    const webhook = await newWebhook();
    const { id } = await data("POST", `${path}?event_name=$errors&listener_id=${webhook}`);
    expect((await api.ask("DELETE", `/v1/webhooks/${webhook}`)).status).toBe(204);
    expect(await api.store.findById(autoSubscriptionKind, id)).toBeUndefined();
  });
});

async function change({ metadata: { namespace, name } }: Resource, finalizers: readonly string[]): Promise<Resource> {
  const now = await api.store.get(autoSubscriptionKind, namespace, name);
  return api.store.update(autoSubscriptionKind, { ...now, metadata: { ...now.metadata, finalizers } });
}
