import { beforeAll, describe, expect, test } from "vitest";
import { withApi } from "./support.ts";

/** Mistaken values, and the answers to them. The mistakes of paths, bodies and parameters are in `mistakes.test.ts`. */
const api = withApi({ codeBytes: 2_000 });
const ids: Record<string, string> = {};
const filled = (text: string): string => text.replaceAll(/\b[A-Z]{4,}\b/g, (name) => ids[name] ?? name);
const made = async (path: string, body: object): Promise<{ id: string; component_id: string }> =>
  (await api.ask("POST", path, { body })).body.data;

beforeAll(async () => {
  const { id, component_id } = await made("/v1/sources", { component_code: "name: Mine; key: mine; props: timer city count" });
  const webhook = await made("/v1/webhooks", { url: "https://example.com/" });
  const off = await made("/v1/sources", { component_code: "name: Off", active: false });
  const action = await made("/v1/components", { component_code: "name: Act; type: action" });
  Object.assign(ids, { SOURCE: id, COMPONENT: component_id, WEBHOOK: webhook.id, OFFLINE: off.id, ACTION: action.id });
});

type Row = readonly [ask: string, body: unknown, status: number, code: string, message: string | RegExp];

async function check(ask: string, body: unknown, status: number, code: string, message: string | RegExp): Promise<void> {
  const [method = "", path = ""] = filled(ask).split(" ");
  const given = body === undefined ? {} : { body: JSON.parse(filled(JSON.stringify(body))) as unknown };
  const answer = await api.ask(method, path, given);
  expect([answer.status, answer.body?.code, answer.body?.error]).toEqual([
    status,
    code,
    typeof message === "string" ? filled(message) : expect.stringMatching(message),
  ]);
}

describe("a component", () => {
  test.each<Row>([
    ["POST /v1/components", {}, 422, "component_missing", "no code is given: send component_code, component_files or component_url"],
    ["POST /v1/components", { component_code: 5 }, 422, "invalid_input", "component_code is invalid: it must be a string"],
    ...["search", "registry"].map((key): Row => [
      "POST /v1/components",
      { component_code: `name: Shadow; key: ${key}` },
      422,
      "key_reserved",
      `the component's key '${key}' is reserved, because /v1/components/${key} is another operation: choose another`,
    ]),
    ["POST /v1/components", { component_code: "broken" }, 422, "syntax_error", "component.js:1:1: Unexpected token"],
    ["POST /v1/components", { component_code: "x".repeat(3_000) }, 413, "code_too_large", /^the code is 3000 bytes, 2000 are allowed: /],
    [
      "POST /v1/components",
      { component_files: { "a.mjs": "1", "b.mjs": "2" } },
      422,
      "entry_missing",
      /^component_entry is missing: it must name the one/,
    ],
    [
      "POST /v1/components",
      { component_files: { "a.mjs": "1" }, component_entry: "c.mjs" },
      422,
      "entry_not_found",
      /^component_entry is "c\.mjs", which is not among component_files: a\.mjs$/,
    ],
    [
      "POST /v1/components",
      { component_files: { "../a.mjs": "1" } },
      422,
      "invalid_path",
      /it must be relative, such as sources\/new-item\.mjs/,
    ],
    [
      "POST /v1/sources",
      { component_id: "ACTION" },
      422,
      "not_a_source",
      /^component 'Act' is an action: only a component without a type, or of type source/,
    ],
    [
      "POST /v1/sources",
      { component_id: "sc_nothing" },
      404,
      "not_found",
      "component_id is not found: there is no saved component sc_nothing of yours or of your organizations",
    ],
    [
      "POST /v1/sources",
      { component_id: "mine" },
      404,
      "not_found",
      "component_id is not found: 'mine' is not an id; the id of a saved component begins with sc_",
    ],
  ])("%s %j", check);
});

describe("a source", () => {
  const deploy = "POST /v1/sources";
  const of = (configured_props: unknown) => ({ component_id: "COMPONENT", configured_props });
  test.each<Row>([
    [
      deploy,
      {},
      422,
      "component_missing",
      "no component is given: send component_id, component_code, component_files, component_url or key",
    ],
    [deploy, { component_id: "COMPONENT", name: 5 }, 422, "invalid_input", "name is invalid: it must be a string"],
    [deploy, { component_id: "COMPONENT", active: "yes" }, 422, "invalid_input", "active is invalid: it must be true or false"],
    [deploy, of([]), 422, "invalid_input", "configured_props is invalid: it must be an object"],
    [deploy, of({ cty: "x" }), 422, "invalid_props", "prop 'cty' is unknown: the component has timer, city, count; did you mean city?"],
    [deploy, of({ city: 5 }), 422, "invalid_props", "prop 'city' is invalid: 5 must be a string"],
    [deploy, of({ count: "3" }), 422, "invalid_props", `prop 'count' is invalid: "3" must be an integer of at least 1`],
    [
      deploy,
      of({ timer: { interval: 60 } }),
      422,
      "invalid_props",
      /^prop 'timer': timer \{"interval":60\} is invalid: it must be \{"intervalSeconds": <integer>\}/,
    ],
    [
      deploy,
      of({ timer: { intervalSeconds: 0 } }),
      422,
      "invalid_props",
      "prop 'timer': intervalSeconds 0 is invalid: it must be an integer from 1 to 31622400 (366 days)",
    ],
    [
      deploy,
      of({ timer: { cron: "61 * * * *" } }),
      422,
      "invalid_props",
      "prop 'timer': cron '61 * * * *' is invalid: minute must be 0 to 59",
    ],
    [
      deploy,
      of({ timer: { cron: "* * * * * *" } }),
      422,
      "invalid_props",
      /^prop 'timer': cron .* it has 6 fields and must have 5, .*seconds cannot be given/,
    ],
    [
      deploy,
      of({ timer: { cron: "0 9 * * *", timezone: "Mars" } }),
      422,
      "invalid_props",
      "prop 'timer': timezone 'Mars' is invalid: it must be a name of the IANA database such as Europe/Berlin",
    ],
    [
      deploy,
      of({ timer: { cron: "0 9 * * *", intervalSeconds: 5 } }),
      422,
      "invalid_props",
      "prop 'timer': a timer has both intervalSeconds and cron: give one of them",
    ],
    [
      deploy,
      { component_code: "name: S; props: shop", configured_props: { shop: "apn_nothing" } },
      422,
      "invalid_props",
      /^prop 'shop' names account apn_nothing, which is not found .*GET \/v1\/accounts\?app=shop lists them$/,
    ],
    [deploy, { component_code: "name: Hook; fail: deploy" }, 422, "observation_error", "observation error"],
    ["PUT /v1/sources/SOURCE", { active: 5 }, 422, "invalid_input", "active is invalid: it must be true or false"],
    [
      "POST /v1/sources/OFFLINE/runs",
      {},
      409,
      "source_inactive",
      `source OFFLINE is inactive: activate it with PUT /v1/sources/OFFLINE and {"active": true}`,
    ],
    [
      "POST /v1/sources/SOURCE/runs",
      { event: 1, event_id: "1-0" },
      422,
      "invalid_input",
      "event and event_id are both given: a run receives one event",
    ],
    [
      "POST /v1/sources/SOURCE/runs",
      { event_id: "latest" },
      422,
      "invalid_input",
      "event_id is invalid: it must be <epoch milliseconds>-<sequence>",
    ],
    [
      "POST /v1/sources/SOURCE/runs",
      { event_id: "1-0" },
      404,
      "event_not_found",
      "event 1-0 of SOURCE is not found: it never existed, or was deleted",
    ],
    ["POST /v1/sources/SOURCE/runs", { emitter_id: "dc_x" }, 422, "invalid_input", "emitter_id dc_x is given without event_id: send both"],
    ["POST /v1/sources/SOURCE/options", {}, 422, "invalid_input", "prop_name is missing: it must be a string"],
    [
      "POST /v1/sources/SOURCE/options",
      { prop_name: "city", page: "next" },
      422,
      "invalid_input",
      "page is invalid: it must be an integer of at least 0",
    ],
  ])("%s %j", check);
});

describe("events", () => {
  const events = "GET /v1/sources/SOURCE/event_summaries";
  test.each<Row>([
    [`${events}?limit=ten`, undefined, 422, "invalid_input", "limit 'ten' is invalid: it must be an integer from 1 to 100"],
    [`${events}?expand=all`, undefined, 422, "invalid_input", "expand 'all' is invalid: it must be 'event'"],
    [`${events}?since=2026-01-01`, undefined, 422, "invalid_input", "since is invalid: it must be a time in epoch milliseconds"],
    [
      `${events}?since=1700000000`,
      undefined,
      422,
      "time_in_seconds",
      "since 1700000000 looks like seconds: it must be epoch milliseconds, 1700000000000",
    ],
    [`${events}?after=newest`, undefined, 422, "invalid_cursor", "cursor 'newest' is invalid: it must be one that page_info gave"],
    [`${events}?after=1-0&before=2-0`, undefined, 422, "invalid_input", "after and before are both set: use one of them"],
    [`${events}?limit=1&limit=2`, undefined, 422, "invalid_input", "limit is given 2 times: give it once"],
    [`${events}?event_name=$error`, undefined, 422, "unknown_channel", "event_name '$error' is not a channel: did you mean $errors?"],
    [
      "DELETE /v1/sources/SOURCE/events?start_id=5",
      undefined,
      422,
      "invalid_input",
      "start_id is invalid: it must be <epoch milliseconds>-<sequence>",
    ],
    [
      "DELETE /v1/sources/SOURCE/events?event_name=$logs",
      undefined,
      422,
      "invalid_input",
      "event_name '$logs' cannot be deleted: it shows runs, and contains no events",
    ],
    [
      "POST /v1/sources/SOURCE/replays",
      { listener_id: "SOURCE-2" },
      422,
      "invalid_input",
      /^listener_id '.*' is invalid: it must be a source \(dc_…\), a workflow \(p_…\) or a webhook \(wh_…\)$/,
    ],
  ])("%s %j", check);
});

describe("webhooks and subscriptions", () => {
  test.each<Row>([
    ["POST /v1/webhooks", {}, 422, "invalid_input", "url is missing: it must be a string"],
    [
      "POST /v1/webhooks",
      { url: "example.com" },
      422,
      "invalid_input",
      "url is invalid: it must begin with http:// or https:// and have a host name",
    ],
    ...(
      [
        ["https://example.com:65536/", "it must have a port from 1 to 65535, not 65536"],
        ["https://example.com:0/", "it must have a port from 1 to 65535, not 0"],
        ["https://user:secret@[::1]:99999/", "it must have a port from 1 to 65535, not 99999"],
        [
          `https://${"a".repeat(250)}.com/`,
          "it must have a host name whose parts between dots have 1 to 63 characters, and this one has a part of 250",
        ],
        [
          "https://a..example.com/",
          "it must have a host name whose parts between dots have 1 to 63 characters, and this one has two dots in a row, or one at its start",
        ],
        [`https://${"abc.".repeat(70)}com/`, "it must have a host name of at most 253 characters, and this one has 283"],
        [`https://example.com/${"a".repeat(2_048)}`, "it must have at most 2048 characters"],
        [`x${"a".repeat(2_048)}`, "it must have at most 2048 characters"],
      ] as const
    ).map(([url, message]): Row => ["POST /v1/webhooks", { url }, 422, "invalid_input", `url is invalid: ${message}`]),
    [
      "POST /v1/webhooks",
      { url: "https://example.com/", ordered: "maybe" },
      422,
      "invalid_input",
      "ordered is invalid: it must be true or false",
    ],
    [
      "GET /v1/webhooks/WEBHOOK/deliveries?outcome=failed",
      undefined,
      422,
      "invalid_input",
      /^outcome is invalid: it must be one of delivered, /,
    ],
    [
      "GET /v1/webhooks/WEBHOOK/deliveries?since=now",
      undefined,
      422,
      "invalid_input",
      "since is invalid: it must be a time in epoch milliseconds",
    ],
    [
      "POST /v1/webhooks/WEBHOOK/rotate_key",
      { overlap_seconds: "a day" },
      422,
      "invalid_input",
      "overlap_seconds is invalid: it must be an integer from 0 to 604800",
    ],
    [
      "POST /v1/webhooks/WEBHOOK/dead_letters/redrive",
      { delivery_ids: ["dlv_x"] },
      422,
      "unknown_field",
      /and not 'delivery_ids': did you mean deliveries\?$/,
    ],
    [
      "POST /v1/subscriptions",
      {},
      422,
      "invalid_input",
      "emitter_id is missing: it must be a string; listener_id is missing: it must be a string",
    ],
    [
      "POST /v1/subscriptions?emitter_id=mine&listener_id=WEBHOOK",
      undefined,
      422,
      "invalid_input",
      /^emitter_id 'mine' is invalid: it must be a source \(dc_…\)/,
    ],
    ["POST /v1/subscriptions?emitter_id=SOURCE&listener_id=wh_nothing", undefined, 404, "not_found", "listener wh_nothing is not found"],
    [
      "POST /v1/subscriptions?emitter_id=SOURCE&listener_id=WEBHOOK&event_name=$log",
      undefined,
      422,
      "unknown_channel",
      "event_name '$log' is not a channel: did you mean $logs?",
    ],
    [
      "POST /v1/subscriptions?emitter_id=SOURCE&listener_id=WEBHOOK&event_name=$mine",
      undefined,
      422,
      "unknown_channel",
      /^event_name '\$mine' is not a channel: names that begin with \$ are reserved, here /,
    ],
    [
      "POST /v1/auto_subscriptions?listener_id=WEBHOOK",
      undefined,
      422,
      "invalid_input",
      "event_name is missing: it must be $errors or $logs",
    ],
    [
      "DELETE /v1/subscriptions?emitter_id=SOURCE&listener_id=WEBHOOK",
      undefined,
      404,
      "not_found",
      "no subscription of WEBHOOK to SOURCE with event_name '' is found",
    ],
  ])("%s %j", check);
});

describe("accounts, keys and organizations", () => {
  test.each<Row>([
    ["POST /v1/accounts", { app: "Shop!" }, 422, "invalid_input", /^app is invalid: an app's name has at most 63 lower-case letters/],
    [
      "POST /v1/accounts",
      { app: "shop", credentials: { key: 5 } },
      422,
      "invalid_input",
      "credentials.key is invalid: it must be a string",
    ],
    [
      "POST /v1/accounts",
      { app: "shop", oauth: {} },
      422,
      "invalid_input",
      /^oauth\.token_url is missing: it must be a string; oauth\.client_id is missing/,
    ],
    ["POST /v1/users/me/keys", { name: "" }, 422, "invalid_input", "name is invalid: it must not be empty"],
    ["POST /v1/users/me/keys", { name: "k", scopes: ["admin"] }, 422, "invalid_input", "scopes.0 is invalid: it must be read or write"],
    [
      "POST /v1/users/me/keys",
      { name: "k", expires_at: "tomorrow" },
      422,
      "invalid_input",
      "expires_at is invalid: it must be epoch seconds",
    ],
    ["DELETE /v1/users/me/keys/mine", undefined, 404, "not_found", "there is no API key 'mine': its id looks like pk_…"],
    ["GET /v1/orgs/o_others/sources", undefined, 403, "forbidden", "you are not a member of organization o_others"],
    ["GET /v1/users/me/sources?org_id=acme", undefined, 404, "not_found", "organization 'acme' is not found: its id must look like o_…"],
  ])("%s %j", check);
});

describe("the details of an error", () => {
  test("names each field with its value, and no value that may be secret", async () => {
    const { body } = await api.ask("POST", "/v1/webhooks", { body: { url: "user:hunter2@host", name: 5, ordered: "maybe" } });
    expect(body.details).toEqual([
      { field: "url", message: expect.any(String) },
      { field: "name", message: "is invalid: it must be a string", value: 5 },
      { field: "ordered", message: "is invalid: it must be true or false", value: "maybe" },
    ]);
    const account = await api.ask("POST", "/v1/accounts", { body: { app: "shop", credentials: "hunter2", oauth: "hunter2" } });
    expect(account.text).not.toContain("hunter2");
  });

  test("truncates long values", async () => {
    const { body } = await api.ask("PUT", filled("/v1/sources/SOURCE"), { body: { active: "x".repeat(10_000) } });
    expect(body.details).toEqual([{ field: "active", message: "is invalid: it must be true or false", value: "x".repeat(80) }]);
  });
});
