import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { isStream, tested as operations } from "./document-support.ts";
import { committedStep } from "../../domain/run/workflow-commits.ts";
import { labels } from "../../../crds/resource.ts";
import { emptyWorkflow, workflowKind } from "../../../crds/workflow.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { acme, ada, bob, keys, withApi, type Answer } from "./support.ts";
import { committedEvent } from "../committed-event.ts";

/**
 * Owners do not reach each other. Method: all that the route table has is asked by bob with the ids of what is ada's and her
 * organization's, so that a new route is tried without a word here; lists are looked through for whatever is hers.
 */
const api = withApi();

const served = operations.filter((operation) => !isStream(operation)).map(({ method, path }) => ({ method, path }));

/** What deletes comes last: what is gone already would not be found in any case. */
const withIds = served
  // The registry's components and the packages of npm have no owner.
  .filter(({ path }) => path.includes(":") && !/^\/(components\/registry|packages)\//.test(path))
  // Creates one of the caller's.
  .filter(({ method, path }) => method !== "PUT" || path !== "/variables/:name")
  .toSorted((one, other) => Number(one.method === "DELETE") - Number(other.method === "DELETE") || other.path.length - one.path.length);
const withoutIds = served.filter(({ path }) => !path.includes(":"));

/** What is ada's, by the place of its id in a path. */
let hers: Readonly<Record<string, string>> = {};

const asBob = (method: string, path: string, body?: object): Promise<Answer> =>
  api.ask(method, path, { key: keys.bob, ...(body === undefined ? {} : { body }) });

beforeAll(async () => {
  const made = async (path: string, body: object) => {
    const { status, text, body: answer } = await api.ask("POST", `/v1${path}`, { body });
    if (status !== 200) throw new Error(`POST ${path} answers ${status}: ${text}`);
    return answer.data;
  };
  const source = await made("/sources", { component_code: "name: Secretive; key: hers; props: city", name: "secretive source" });
  const organizations = await made(`/sources?org_id=${acme.id}`, { component_code: "name: Secretive too", name: "secretive too" });
  const webhook = await made("/webhooks", { url: "https://secretive.test/", name: "secretive webhook" });
  const account = await made("/accounts", { app: "shop", name: "secretive account", credentials: { api_key: "k" } });
  const addresses = { authorization_url: "https://secretive.test/authorize", token_url: "https://secretive.test/token" };
  await made("/apps", { name_slug: "app-of-ada", name: "secretive app", auth_type: "oauth", oauth: addresses });
  const client = await made("/oauth_clients", { app: "app-of-ada", client_id: "secretive client" });
  const connection = await made("/apps/app-of-ada/connect", {});
  await api.ask("PUT", "/v1/variables/OF_ADA", { body: { value: "secretive variable" } });
  const store = await made("/data_stores", { name: "secretive store" });
  await api.ask("PUT", `/v1/data_stores/${store.id}/entries/first`, { body: { value: "secretive entry" } });
  const subscription = await made("/subscriptions", { emitter_id: source.id, listener_id: webhook.id, event_name: "secretive" });
  const invitation = await made(`/orgs/${acme.id}/members`, { email: "secretive@example.com" });
  const key = await made("/users/me/keys", { name: "secretive key" });
  await api.store.create(workflowKind, {
    namespace: namespaceOfOwner(ada.id),
    name: "p-hers",
    labels: { [labels.id]: "p_hers" },
    spec: { ...emptyWorkflow },
  });
  await sql`
    insert into attempts (webhook, delivery, attempt, source, event, at_ms, record)
    values (${webhook.id}, 'dlv_hers', 1, ${source.id}, '1700000000000-0', 1700000000000, '{"outcome":"retry"}')`.execute(api.database.db);
  await api.history.recordCommits("RUNS", [{ seq: 1, commit: commitOf(source.id) }]);
  const progress = { status: "succeeded", number: 1, startedAt: 1, stepCount: 1, event: '"secretive"', step: committedStep() } as const;
  await api.history.recordCommits("RUNS", [{ seq: 2, commit: { ...commitOf("p_hers"), workflow: progress } }]);
  hers = {
    "sources/:id": source.id,
    "runs/:run_id": "r_hers",
    "events/:event_id": "1700000000000-0",
    "components/:key": source.component_id,
    "webhooks/:id": webhook.id,
    "subscriptions/:id": subscription.id,
    "traces/:id": "r_hers",
    "deliveries/:id": "dlv_hers",
    "accounts/:id": account.id,
    "apps/:slug": "app-of-ada",
    "packages/:name": "package-of-ada",
    "oauth_clients/:id": client.id,
    "variables/:name": "OF_ADA",
    "data_stores/:id": store.id,
    "entries/:key": "first",
    "connections/:id": connection.connection_id,
    "workflows/:workflow_id": "p_hers",
    "steps/:step": "first",
    "triggers/:trigger_id": "ti_hers",
    "keys/:id": key.id,
    "invitations/:invitation_id": invitation.id,
    "invitations/:id": invitation.id,
    "namespaces/:name": (await made("/namespaces", { name: "of-ada" })).name,
    "orgs/:org_id": acme.id,
    "workspaces/:org_id": acme.id,
    "members/:user_id": ada.id,
    "the organization's": organizations.id,
  };
});

/** @throws for an id of a kind that this file does not know */
function pathOfHers(path: string): string {
  return `/v1${path.replaceAll(/([^/]+)\/:[^/]+/g, (place, segment: string) => {
    const id = hers[place];
    if (id === undefined) throw new Error(`what is ada's has nothing for '${place}': make one in beforeAll`);
    return `${segment}/${id}`;
  })}`;
}

describe("a resource of another owner", () => {
  test.each(withIds)("returns 404 for $method $path", async ({ method, path }) => {
    const { status, text } = await asBob(method, pathOfHers(path), method === "GET" ? undefined : {});
    expect(status).toBe(/^\/(orgs|workspaces)\//.test(path) ? 403 : 404);
    expect(text).not.toMatch(/secretive/i);
  });

  test.each(withoutIds)("is not in the response to $method $path, also with its organization", async ({ method, path }) => {
    for (const query of ["", `?org_id=${acme.id}`, `?workspace_id=${acme.id}`]) {
      const { status, text } = await asBob(method, `/v1${path}${query}`, method === "GET" ? undefined : valid[`${method} ${path}`]?.());
      expect(text).not.toMatch(/secretive/i);
      for (const id of Object.values(hers).filter((id) => id !== ada.id && id !== acme.id)) expect(text).not.toContain(id);
      const isCreation = method === "POST" && !["/users/me/keys", "/orgs", "/workspaces"].includes(path);
      if (query !== "" && isCreation) expect([path, status]).toEqual([path, 403]);
    }
  });

  test("cannot be referred to in new resources", async () => {
    const bobs = (await asBob("POST", "/v1/webhooks?url=https://bob.test/")).body.data.id;
    const [source, webhook] = [hers["sources/:id"], hers["webhooks/:id"]];
    for (const [method, path] of [
      ["POST", `/v1/subscriptions?emitter_id=${source}&listener_id=${bobs}`],
      ["POST", `/v1/subscriptions?emitter_id=${hers["the organization's"]}&listener_id=${bobs}`],
      ["POST", `/v1/subscriptions?emitter_id=dc_*&listener_id=${webhook}`],
      ["POST", `/v1/auto_subscriptions?event_name=$errors&listener_id=${webhook}`],
      ["DELETE", `/v1/subscriptions?emitter_id=${source}&listener_id=${webhook}&event_name=secretive`],
    ] as const)
      expect([method, path, (await asBob(method, path)).status]).toEqual([method, path, 404]);
    const byId = await asBob("POST", "/v1/sources", { component_id: hers["components/:key"] });
    const byKey = await asBob("POST", "/v1/sources", { key: "hers" });
    expect([byId.status, byKey.status]).toEqual([404, 404]);
  });

  test("still exists, and only its owner sees it", async () => {
    for (const [path, name] of [
      [pathOfHers("/sources/:id"), "secretive source"],
      [pathOfHers("/accounts/:id"), "secretive account"],
      ["/v1/users/me/webhooks", "secretive webhook"],
      ["/v1/users/me/subscriptions", "secretive"],
      ["/v1/users/me/keys", "secretive key"],
      [`/v1/orgs/${acme.id}/sources`, "secretive too"],
      [`${pathOfHers("/sources/:id")}/event_summaries`, "secretive"],
      [pathOfHers("/workflows/:workflow_id/runs/:run_id"), "secretive"],
    ] as const)
      expect([path, (await api.ask("GET", path)).text]).toEqual([path, expect.stringContaining(name)]);
    expect((await api.ask("GET", `/v1/orgs/${acme.id}/members`)).body.data).toHaveLength(1);
  });
});

test("resources of an organization are visible to members, until they leave", async () => {
  const path = `/v1/sources/${hers["the organization's"]}`;
  expect((await asBob("GET", path)).status).toBe(404);
  await api.accounts.putMember(bob.id, acme.id, "member");
  expect((await asBob("GET", path)).body.data).toMatchObject({ owner_id: acme.id });
  expect((await asBob("GET", `/v1/orgs/${acme.id}/sources`)).text).toContain("secretive too");
  expect((await asBob("GET", pathOfHers("/sources/:id"))).status).toBe(404);
  expect((await asBob("GET", "/v1/users/me/sources")).text).not.toContain("secretive");
  await api.accounts.removeMember(bob.id, acme.id);
  expect((await asBob("GET", path)).status).toBe(404);
});

describe("a key with only the scope read", () => {
  let readOnly: string | undefined;

  test.each(served)("$method $path", async ({ method, path }) => {
    readOnly ??= (await api.ask("POST", "/v1/users/me/keys", { body: { name: "reads", scopes: ["read"] } })).body.data.key;
    const asked = path.includes("registry/:key") ? "/v1/components/registry/hw-feed" : pathOfHers(path);
    const { status, body } = await api.ask(method, asked, { key: readOnly ?? "", ...(method === "GET" ? {} : { body: {} }) });
    if (method === "GET") expect(body.code).not.toBe("scope_missing");
    else expect([status, body.code, body.details?.needed]).toEqual([403, "scope_missing", "write"]);
  });
});
/** Bodies that are right, so that what is refused is refused for whom it is asked. */
const valid: Readonly<Record<string, () => object>> = {
  "POST /accounts": () => ({ app: "shop", credentials: { api_key: "k" } }),
  "POST /components": () => ({ component_code: "name: Bob's" }),
  "POST /sources": () => ({ component_code: "name: Bob's" }),
  "POST /webhooks": () => ({ url: "https://bob.test/" }),
  "POST /subscriptions": () => ({ emitter_id: "dc_*", listener_id: "dc_none" }),
  "POST /auto_subscriptions": () => ({ event_name: "$errors", listener_id: "dc_none" }),
  "POST /users/me/keys": () => ({ name: "bob's" }),
  "POST /namespaces": () => ({ name: "of-bob" }),
  "POST /orgs": () => ({ name: "Bob's" }),
};

const commitOf = (source: string) => ({
  source,
  owner: ada.id,
  deployment: "d_hers",
  run: { id: "r_hers", trigger: "timer", generation: 1, startedAt: 1_700_000_000_000, durationMs: 1, cpuMs: 1, result: null } as const,
  events: [committedEvent("1700000000000-0", { summary: "secretive" })],
  logs: [{ k: "console.log", ts: 1_700_000_000_000, msg: "secretive line" } as const],
  error: null,
  state: emptyState,
});
