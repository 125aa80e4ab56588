import { beforeAll, describe, expect, test } from "vitest";
import { labels } from "../../../crds/resource.ts";
import { emptyWorkflow, workflowKind } from "../../../crds/workflow.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { acme, ada, published, withApi, type Answer } from "./support.ts";
import { committedEvent } from "../committed-event.ts";

/**
 * Every endpoint of the specification answers with its status and a body of its shape, field by field.
 * Method: a table, in the order of the specification's chapter "Endpoints"; capitals in a path stand for ids of what is made first.
 */
const api = withApi();
const code = "name: Spec; key: spec-component; props: timer city";
const ids: Record<string, string> = { ORG: acme.id, KEY: "spec-component", REGISTRY: published.key, WORKFLOW: "p_spec" };

const id = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-zA-Z]{6,12}$`));
const seconds = expect.toSatisfy((at: number) => Number.isInteger(at) && at > 1_600_000_000 && at < 10_000_000_000, "epoch seconds");
const cursor = expect.stringMatching(/^[A-Za-z0-9_-]+$/);
const pageInfo = {
  total_count: expect.any(Number),
  count: expect.any(Number),
  start_cursor: cursor,
  end_cursor: cursor,
  excluded_count: 0,
};
const component = {
  id: id("sc"),
  code: expect.any(String),
  entry: null,
  files: [],
  code_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  name: expect.any(String),
  version: expect.any(String),
  configurable_props: expect.arrayContaining([{ name: "timer", type: "$.interface.timer", default: { intervalSeconds: 60 } }]),
  created_at: seconds,
  updated_at: seconds,
};
const source = {
  id: id("dc"),
  component_id: id("sc"),
  configured_props: { timer: { cron: null, interval_seconds: 60 } },
  active: true,
  created_at: seconds,
  updated_at: seconds,
  name: expect.any(String),
  name_slug: expect.stringMatching(/^[a-z0-9-]+$/),
  // Additions of Headwater.
  state: expect.stringMatching(/^(active|paused)$/),
  problem: null,
  last_run_at: null,
  last_error: null,
  next_tick_at: expect.toSatisfy((at: unknown) => at === null || Number.isInteger(at), "epoch seconds or null"),
  backlog: 0,
};
const webhook = {
  id: id("wh"),
  name: "Hook",
  description: null,
  url: "https://x.test/hook",
  active: true,
  ordered: false,
  created_at: seconds,
  updated_at: seconds,
  // Additions of Headwater.
  state: "active",
  problem: null,
  success_rate: null,
  circuit_open_until: null,
};
const subscription = { id: id("sub"), emitter_id: expect.any(String), listener_id: expect.any(String), event_name: expect.any(String) };
const autoSubscription = { id: id("asub"), listener_id: id("wh"), event_name: "$logs" };
const summary = {
  id: expect.stringMatching(/^\d+-\d+$/),
  indexed_at_ms: expect.any(Number),
  event: expect.any(Object),
  metadata: expect.objectContaining({ emit_id: expect.any(String), name: "", emitter_id: expect.stringMatching(/^(dc|p)_/) }),
};
const user = {
  ...ada,
  email_confirmed: true,
  orgs: [{ ...acme, email_confirmed: false }],
  daily_compute_time_quota: expect.any(Number),
  daily_compute_time_used: expect.any(Number),
  daily_invocations_quota: expect.any(Number),
  daily_invocations_used: expect.any(Number),
};

const one = (data: object) => ({ data });
const page = (item: object) => ({ page_info: pageInfo, data: expect.arrayContaining([item]) });
const nothing = {
  page_info: { total_count: 0, count: 0, start_cursor: null, end_cursor: null, excluded_count: 0 },
  data: [],
};

interface Row {
  readonly request: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;
  readonly body?: object;
  readonly status?: number;
  /** Of the parsed body; a text is the whole body as it is. */
  readonly answer: object | string;
  /** Under which its answer's id goes on. */
  readonly made?: string;
}

const rows: readonly Row[] = [
  { request: "POST /components", body: { component_code: code }, answer: one(component), made: "COMPONENT" },
  { request: "GET /components/COMPONENT", answer: one(component) },
  { request: "GET /components/KEY", answer: one(component) },
  { request: "GET /components/registry/REGISTRY", answer: one({ ...component, key: published.key, deprecated: null }) },

  {
    request: "POST /sources/",
    body: { component_id: "COMPONENT", name: "Of id" },
    answer: one({ ...source, user_id: ada.id }),
    made: "SOURCE",
  },
  { request: "POST /sources", body: { component_code: code }, answer: one({ ...source, user_id: ada.id }), made: "DOOMED" },
  { request: "GET /users/me/sources/", answer: page(source) },
  { request: "POST /sources?org_id=ORG", body: { component_code: code }, answer: one({ ...source, user_id: ada.id, owner_id: acme.id }) },
  { request: "GET /orgs/ORG/sources", answer: page({ ...source, owner_id: acme.id }) },
  { request: "PUT /sources/SOURCE", body: { component_code: code }, answer: one({ ...source, user_id: ada.id }) },
  { request: "PUT /sources/SOURCE", body: { active: false }, answer: one({ ...source, user_id: ada.id, active: false }) },
  { request: "DELETE /sources/DOOMED", status: 204, answer: "" },

  { request: "GET /sources/EMITTER/event_summaries?limit=1&expand=event", answer: page(summary) },
  { request: "DELETE /sources/EMITTER/events?start_id=1-0&end_id=1-0", status: 202, answer: " " },
  { request: "DELETE /sources/EMITTER/events", status: 202, answer: " " },
  { request: "GET /sources/EMITTER/event_summaries", answer: nothing },

  {
    request: "POST /webhooks?url=https%3A%2F%2Fx.test%2Fhook&name=Hook",
    answer: one({ ...webhook, user_id: ada.id, signing_key: expect.any(String) }),
    made: "WEBHOOK",
  },
  { request: "GET /users/me/webhooks", answer: page(webhook) },

  { request: "POST /subscriptions?emitter_id=EMITTER&listener_id=WEBHOOK", answer: one({ ...subscription, event_name: "" }) },
  {
    request: "POST /subscriptions?emitter_id=dc_*&listener_id=WEBHOOK&event_name=%24errors",
    answer: one({ ...subscription, emitter_id: "dc_*", event_name: "$errors" }),
  },
  {
    request: "POST /subscriptions?emitter_id=p_*&listener_id=WORKFLOW&event_name=news",
    answer: one({ ...subscription, emitter_id: "p_*", listener_id: "p_spec" }),
  },
  {
    request: "POST /subscriptions?emitter_id=ORG&listener_id=WEBHOOK&event_name=$errors",
    answer: one({ ...subscription, emitter_id: acme.id }),
  },
  { request: "POST /subscriptions?emitter_id=dc_*&listener_id=HOOK_OF_ORG&org_id=ORG", answer: one(subscription) },
  { request: "GET /users/me/subscriptions", answer: page(subscription) },
  { request: "GET /orgs/ORG/subscriptions", answer: page(subscription) },
  { request: "DELETE /subscriptions?emitter_id=EMITTER&listener_id=WEBHOOK&event_name=", answer: one(subscription) },
  { request: "DELETE /subscriptions", body: { emitter_id: "p_*", listener_id: "WORKFLOW", event_name: "news" }, answer: one(subscription) },
  { request: "POST /auto_subscriptions?event_name=%24logs&listener_id=WEBHOOK", answer: one(autoSubscription) },
  { request: "GET /users/me/auto_subscriptions", answer: page(autoSubscription) },
  { request: "DELETE /auto_subscriptions?event_name=$logs&listener_id=WEBHOOK", answer: one(autoSubscription) },
  { request: "DELETE /webhooks/WEBHOOK", status: 204, answer: "" },

  { request: "GET /workflows/WORKFLOW/event_summaries?limit=100&expand=event", answer: nothing },
  { request: "GET /workflows/WORKFLOW/$errors/event_summaries?limit=100&expand=event", answer: nothing },

  { request: "GET /users/me", answer: one(user) },
  { request: "GET /orgs/ORG", answer: one({ ...acme, email_confirmed: false }) },
];

const filled = (text: string): string => text.replaceAll(/[A-Z]{3,}(_[A-Z]+)*/g, (name) => ids[name] ?? name);

async function ask(request: string, body?: object): Promise<Answer> {
  const [method = "", path = ""] = request.split(" ");
  const given = body === undefined ? {} : { body: JSON.parse(filled(JSON.stringify(body))) as object };
  return api.ask(method, `/v1${filled(path)}`, given);
}

const idOf = async (request: string, body?: object): Promise<string> => (await ask(request, body)).body.data.id;

beforeAll(async () => {
  const emitter = await idOf("POST /sources", { component_code: "name: Emitter" });
  ids["EMITTER"] = emitter;
  ids["HOOK_OF_ORG"] = await idOf("POST /webhooks?url=https://x.test&org_id=ORG");
  const run = { id: "r_1", trigger: "manual", generation: 1, startedAt: 1, durationMs: 1, cpuMs: 1, result: null } as const;
  const events = [committedEvent("1-0"), committedEvent("2-0")];
  const commit = { source: emitter, owner: ada.id, deployment: "d_1", run, events, logs: [], error: null, state: emptyState };
  await api.history.recordCommits("TEST", [{ seq: 1, commit }]);
  await api.store.create(workflowKind, {
    namespace: namespaceOfOwner(ada.id),
    name: "p-spec",
    labels: { [labels.id]: "p_spec" },
    spec: { ...emptyWorkflow },
  });
});

describe("the specification's endpoints, one after the other", () => {
  test.each(rows)("$request", async ({ request, body, status = 200, answer, made }) => {
    const given = await ask(request, body);
    expect([given.status, typeof answer === "string" ? given.text : given.body]).toEqual([status, answer]);
    if (made !== undefined) ids[made] = given.body.data.id;
  });
});

describe("the specification's common rules", () => {
  const lists = ["sources", "webhooks", "subscriptions", "auto_subscriptions"];

  beforeAll(async () => {
    for (const n of [1, 2, 3]) {
      const hook = await idOf(`POST /webhooks?url=https://x.test/${n}&org_id=ORG`);
      await idOf("POST /sources?org_id=ORG", { component_code: `name: Listed ${n}` });
      await idOf(`POST /subscriptions?emitter_id=dc_*&listener_id=${hook}&org_id=ORG`);
      await idOf(`POST /auto_subscriptions?event_name=$errors&listener_id=${hook}&org_id=ORG`);
    }
  });

  test.each(lists)("pages lists of %s by cursors, newest first, each item once", async (plural) => {
    const path = `GET /orgs/ORG/${plural}`;
    const all = (await ask(`${path}?limit=500`)).body;
    expect(all.page_info).toMatchObject({ total_count: all.data.length, count: all.data.length });
    expect(all.data.length).toBeGreaterThanOrEqual(3);
    const seen: unknown[] = [];
    for (let after = ""; ;) {
      const { page_info, data } = (await ask(`${path}?limit=2&after=${after}`)).body;
      seen.push(...data);
      if (page_info.end_cursor === null) break;
      after = page_info.end_cursor;
    }
    expect(seen).toEqual(all.data);
    const { start_cursor } = (await ask(`${path}?limit=1&after=${all.page_info.start_cursor}`)).body.page_info;
    expect((await ask(`${path}?before=${start_cursor}`)).body.data).toEqual(all.data.slice(0, 1));
  });

  test.each(lists)("selects fields in lists of %s, by org_id or workspace_id, with or without a trailing slash", async (plural) => {
    const whole = (await ask(`GET /orgs/ORG/${plural}?limit=1`)).body;
    for (const path of [`/orgs/ORG/${plural}/`, `/workspaces/ORG/${plural}`, `/workspaces/ORG/${plural}/`])
      expect((await ask(`GET ${path}?limit=1`)).body).toEqual(whole);
    const [{ id: first, ...rest }] = whole.data;
    expect((await ask(`GET /orgs/ORG/${plural}?limit=1&include=id`)).body.data).toEqual([{ id: first }]);
    expect((await ask(`GET /orgs/ORG/${plural}?limit=1&exclude=id`)).body.data).toEqual([rest]);
  });

  test("creates resources for the organization in the query or the body", async () => {
    const hook = ids["HOOK_OF_ORG"] ?? "";
    const creations: readonly (readonly [string, object, string])[] = [
      ["/sources", { component_code: "name: Owned" }, "/orgs/ORG/sources"],
      ["/webhooks?url=https://x.test/owned", {}, "/orgs/ORG/webhooks"],
      [`/subscriptions?emitter_id=dc_*&listener_id=${hook}&event_name=owned`, {}, "/orgs/ORG/subscriptions"],
      [`/auto_subscriptions?event_name=$errors&listener_id=${hook}`, {}, "/orgs/ORG/auto_subscriptions"],
    ];
    for (const name of ["org_id", "workspace_id"])
      for (const [path, body, list] of creations) {
        const inQuery = await idOf(`POST ${path}${path.includes("?") ? "&" : "?"}${name}=ORG`, body);
        const inBody = await idOf(`POST ${path}`, { ...body, [name]: "ORG" });
        const listed = (await ask(`GET ${list}?limit=100&include=id`)).body.data;
        expect(listed).toEqual(expect.arrayContaining([{ id: inQuery }, { id: inBody }]));
      }
  });

  test("selects fields of single resources", async () => {
    expect((await ask("GET /orgs/ORG?include=id,name")).body).toEqual({ data: { id: acme.id, name: acme.name } });
    expect(Object.keys((await ask("POST /webhooks?url=https://x.test", { exclude: "signing_key,user_id" })).body.data)).not.toContain(
      "signing_key",
    );
  });

  test("returns 403 for an organization of others and 404 for an unknown one", async () => {
    expect((await ask("GET /orgs/o_others")).status).toBe(403);
    for (const path of ["/orgs/o_none", "/orgs/none", "/workspaces/%00"]) expect((await ask(`GET ${path}`)).status).toBe(404);
  });
});
