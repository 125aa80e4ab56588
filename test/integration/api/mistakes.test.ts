import { connect } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { Unavailable } from "../../../domain/errors.ts";
import { misspeltHook } from "./fake-builds.ts";
import { acme, bob, keys, others, withApi, type Answer, type Ask } from "./support.ts";

/**
 * Mistakes that people make with the API, and the answers: request → status, code, message. Each answer says what failed, with
 * which value, and what would be right.
 */
const unreachable = "'https://expired.test/c.mjs' cannot be fetched: the certificate of expired.test expired on 2021-03-04";
const api = withApi(
  {},
  {
    fetchComponent: async (url) => {
      if (url.includes("hangs")) throw new Unavailable("fetching the component took longer than 60 s", { code: "fetch_timeout" });
      if (url.includes("expired")) throw new Unavailable(unreachable, { code: "address_unreachable" });
      throw new Unavailable("the builder cannot be reached: try again", { code: "builder_unreachable" });
    },
  },
);

const ids: Record<string, string> = {};
const made = async (path: string, body: object, key: string = keys.ada) => {
  const { status, text, body: answer } = await api.ask("POST", path, { key, body });
  expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
  return answer.data;
};
/** `SOURCE` in a path or a message stands for its id. */
const filled = (text: string): string => text.replaceAll(/\b[A-Z]{4,}\b/g, (name) => ids[name] ?? name);

beforeAll(async () => {
  const source = await made("/v1/sources", { component_code: "name: My source; key: mine; props: timer city" });
  const webhook = await made("/v1/webhooks", { url: "https://example.com/" });
  Object.assign(ids, { SOURCE: source.id, COMPONENT: source.component_id, WEBHOOK: webhook.id });
});

interface Mistake {
  readonly ask: string;
  readonly with?: Ask;
  readonly status: number;
  readonly code: string;
  readonly says: string | RegExp;
}

async function expectAnswer({ ask, with: how, status, code, says }: Mistake): Promise<void> {
  const [method = "", path = ""] = filled(ask).split(" ");
  const { body, ...answer } = await api.ask(method, path, how);
  expect([answer.status, body?.code]).toEqual([status, code]);
  if (typeof says === "string") expect(body.error).toBe(filled(says));
  else expect(body.error).toMatch(says);
}

describe("an unknown id", () => {
  const mistakes: readonly Mistake[] = [
    {
      ask: "GET /v1/sources/dc_nothing",
      status: 404,
      code: "not_found",
      says: "record not found: there is no source dc_nothing of yours or of your organizations",
    },
    {
      ask: "GET /v1/sources/COMPONENT",
      status: 404,
      code: "not_found",
      says: 'record not found: COMPONENT is the id of a saved component; the id of a source begins with dc_; POST /v1/sources with {"component_id": "COMPONENT"} deploys it',
    },
    {
      ask: "GET /v1/components/SOURCE",
      status: 404,
      code: "not_found",
      says: "record not found: SOURCE is the id of a source; the id of a saved component begins with sc_; GET /v1/sources/SOURCE names its component_id",
    },
    {
      ask: "GET /v1/webhooks/SOURCE/deliveries",
      status: 404,
      code: "not_found",
      says: "record not found: SOURCE is the id of a source; the id of a webhook begins with wh_",
    },
    {
      ask: "GET /v1/webhooks/my-hook",
      status: 404,
      code: "not_found",
      says: "record not found: 'my-hook' is not an id; the id of a webhook begins with wh_",
    },
    {
      ask: "GET /v1/sources/no-such-name",
      status: 404,
      code: "not_found",
      says: "record not found: no source of yours has the id or the name_slug 'no-such-name'",
    },
    {
      ask: "GET /v1/sources/SOURCE/runs/r_nothing",
      status: 404,
      code: "not_found",
      says: "record not found: source SOURCE has no run r_nothing, or it was deleted",
    },
    {
      ask: "GET /v1/sources/SOURCE/runs/dc_nothing",
      status: 404,
      code: "not_found",
      says: "record not found: dc_nothing is the id of a source; the id of a run begins with r_",
    },
    {
      ask: "POST /v1/deliveries/WEBHOOK/retry",
      status: 404,
      code: "not_found",
      says: "record not found: WEBHOOK is the id of a webhook; the id of a delivery begins with dlv_",
    },
    {
      ask: "GET /v1/components/none-of-mine",
      status: 404,
      code: "not_found",
      says: "record not found: no component of yours has the key 'none-of-mine'; GET /v1/components lists yours, GET /v1/components/registry those of the registry",
    },
    {
      ask: "GET /v1/components/mine?version=9.9",
      status: 404,
      code: "not_found",
      says: /^record not found: no component of yours has the key 'mine' and the version '9.9'; /,
    },
    {
      ask: "GET /v1/components/registry/hw-fed",
      status: 404,
      code: "not_found",
      says: "record not found: the registry has no component 'hw-fed': did you mean hw-feed?",
    },
    {
      ask: "POST /v1/sources",
      with: { body: { key: "hw_feeed" } },
      status: 404,
      code: "not_found",
      says: "no component with the key 'hw_feeed' is found, neither of yours nor in the registry: did you mean hw-feed?",
    },
    {
      ask: "POST /v1/sources",
      with: { body: { component_id: "dc_nothing" } },
      status: 404,
      code: "not_found",
      says: "component_id is not found: dc_nothing is the id of a source; the id of a saved component begins with sc_; GET /v1/sources/dc_nothing names its component_id",
    },
    {
      ask: "GET /v1/orgs/acme/sources",
      status: 404,
      code: "not_found",
      says: "organization 'acme' is not found: its id must look like o_…",
    },
  ];
  test.each(mistakes)("$ask", expectAnswer);
});

describe("a name slug", () => {
  test("replaces the id of a source in every path", async () => {
    for (const path of ["", "/event_summaries", "/runs", "/logs", "/ticks", "/events/deletions"]) {
      const { status } = await api.ask("GET", `/v1/sources/my-source${path}`);
      expect([path, status]).toEqual([path, 200]);
    }
    expect((await api.ask("GET", "/v1/sources/my-source")).body.data.id).toBe(ids["SOURCE"]);
    expect((await api.ask("PUT", "/v1/sources/my-source", { body: { active: true } })).status).toBe(200);
  });

  test("of another owner returns 404", async () => {
    const { status, body } = await api.ask("GET", "/v1/sources/my-source", { key: keys.bob });
    expect([status, body.error]).toEqual([404, "record not found: no source of yours has the id or the name_slug 'my-source'"]);
  });

  test("of a source of the caller is not hidden by one of an organization", async () => {
    await api.accounts.putMember(bob.id, acme.id, "member", { keepsAdmin: true });
    const own = await made("/v1/sources", { component_code: "name: twin" }, keys.bob);
    const ours = await made(`/v1/sources?org_id=${acme.id}`, { component_code: "name: twin" }, keys.bob);
    expect((await api.ask("GET", "/v1/sources/twin", { key: keys.bob })).body.data.id).toBe(own.id);
    expect((await api.ask("GET", `/v1/sources/twin?org_id=${acme.id}`, { key: keys.bob })).body.data.id).toBe(ours.id);
  });

  test("of sources of two organizations returns 404 unless org_id selects one", async () => {
    await api.accounts.putMember(bob.id, acme.id, "member");
    await api.accounts.putMember(bob.id, others.id, "member");
    const of = (id: string) => made(`/v1/sources?org_id=${id}`, { component_code: "name: double" }, keys.bob);
    const [one, other] = [await of(acme.id), await of(others.id)];
    const { status, body } = await api.ask("GET", "/v1/sources/double", { key: keys.bob });
    expect([status, body.error]).toEqual([
      404,
      `record not found: 'double' is the name_slug of ${one.id} and of ${other.id}: name the source by its id`,
    ]);
    expect((await api.ask("GET", `/v1/sources/double?org_id=${others.id}`, { key: keys.bob })).body.data.id).toBe(other.id);
  });
});

describe("an unknown path", () => {
  const mistakes: readonly Mistake[] = [
    {
      ask: "POST /v1/sources/SOURCE/run",
      status: 404,
      code: "no_such_route",
      says: "there is no POST /v1/sources/SOURCE/run: did you mean POST /v1/sources/SOURCE/runs?",
    },
    {
      ask: "GET /users/me",
      status: 404,
      code: "no_such_route",
      says: "there is no GET /users/me: did you mean GET /v1/users/me?",
    },
    {
      ask: "GET /v2/users/me",
      status: 404,
      code: "no_such_route",
      says: "there is no GET /v2/users/me: did you mean GET /v1/users/me?",
    },
    {
      ask: "GET /v1/source/SOURCE/event-summaries",
      status: 404,
      code: "no_such_route",
      says: "there is no GET /v1/source/SOURCE/event-summaries: did you mean GET /v1/sources/SOURCE/event_summaries?",
    },
    {
      ask: "GET /v1/webhook",
      status: 404,
      code: "no_such_route",
      says: /^there is no GET \/v1\/webhook: did you mean (GET|POST) \/v1\/webhooks\?$/,
    },
    {
      ask: "GET /v1/nothing/of/this",
      status: 404,
      code: "no_such_route",
      says: "there is no GET /v1/nothing/of/this: /v1/openapi.json lists the routes, /docs shows them",
    },
    {
      ask: "PATCH /v1/sources/SOURCE",
      status: 405,
      code: "method_not_allowed",
      says: "PATCH is not possible on /v1/sources/SOURCE: GET, PUT, DELETE, HEAD, OPTIONS are; PUT changes the given fields",
    },
    {
      ask: "POST /v1/users/me",
      status: 405,
      code: "method_not_allowed",
      says: "POST is not possible on /v1/users/me: GET, PUT, HEAD, OPTIONS are",
    },
  ];
  test.each(mistakes)("$ask", expectAnswer);

  test.each(["//v1/users/me", "/v1//users/me", "/v1///users//me/"])("is read with single slashes: %s", async (path) => {
    const { status, body } = await api.ask("GET", path);
    expect([status, body.data?.id]).toEqual([200, "u_ada"]);
  });

  test("keeps the slashes of a query", async () => {
    const { body } = await api.ask("POST", "/v1//webhooks?url=https://example.com//a");
    expect(body.data.url).toBe("https://example.com//a");
  });

  test("/ is the console for browsers, and returns 404 to programs", async () => {
    const page = await api.ask("GET", "/", { key: null, headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });
    // Without its built files, the console says how to build them.
    expect([200, 503]).toContain(page.status);
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    expect(page.text).not.toMatch(/<script(?! type="module" crossorigin src=)|<style|\sstyle=/);
    for (const accept of ["application/json", "*/*"]) {
      const { status, body } = await api.ask("GET", "/", { key: null, headers: { accept } });
      expect([status, body.code]).toEqual([404, "no_such_route"]);
    }
  });
});

describe("an unreadable body", () => {
  const json = { "content-type": "application/json" };
  const mistakes: readonly Mistake[] = [
    {
      ask: "POST /v1/sources",
      with: { raw: "{", headers: json },
      status: 400,
      code: "invalid_json",
      says: "the body is not valid JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
    },
    {
      ask: "POST /v1/accounts",
      with: { raw: '{"token": "hunter2", "x": y}', headers: json },
      status: 400,
      code: "invalid_json",
      says: "the body is not valid JSON: Unexpected token 'y'",
    },
    {
      ask: "POST /v1/sources",
      with: { raw: "[]", headers: json },
      status: 422,
      code: "invalid_input",
      says: "the body is invalid: it must be a JSON object",
    },
    {
      ask: "POST /v1/sources",
      with: { raw: "name: x", headers: { "content-type": "application/yaml" } },
      status: 400,
      code: "wrong_content_type",
      says: "the body's content type is 'application/yaml': it must be application/json or application/x-www-form-urlencoded",
    },
    {
      ask: "PUT /v1/sources/SOURCE",
      with: { body: { foo: 1 } },
      status: 422,
      code: "unknown_field",
      says: /^no field of the body is known: PUT \/v1\/sources\/\{id\} takes component_id, .*, and not 'foo'$/,
    },
    {
      ask: "POST /v1/sources/SOURCE/runs",
      with: { body: { evnt: {} } },
      status: 422,
      code: "unknown_field",
      says: "no field of the body is known: POST /v1/sources/{id}/runs takes event, event_id, emitter_id, dry_run, and not 'evnt': did you mean event?",
    },
  ];
  test.each(mistakes)("$ask with $with.raw$with.body", expectAnswer);
});

describe("a body without a content type", () => {
  const send = (method: string, path: string, body: string): Promise<string> =>
    sent(
      `${method} ${filled(path)} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys.ada}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );

  test("is parsed as JSON", async () => {
    expect(await send("PUT", "/v1/webhooks/WEBHOOK", '{"name":"untyped"}')).toMatch(/^HTTP\/1\.1 200 .*"name":"untyped"/s);
    expect(await send("PUT", "/v1/webhooks/WEBHOOK", "name=x")).toMatch(/^HTTP\/1\.1 400 .*"code":"invalid_json"/s);
  });

  test("is ignored for GET", async () => {
    expect(await send("GET", "/v1/users/me", "name=x")).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("an unknown parameter", () => {
  const mistakes: readonly Mistake[] = [
    {
      ask: "GET /v1/users/me/sources?page=2",
      status: 422,
      code: "unknown_page",
      says: "page=2 is not possible: pages follow cursors: send after=<end_cursor of the page before>",
    },
    {
      ask: "GET /v1/users/me/sources?offset=10&limit=10",
      status: 422,
      code: "unknown_page",
      says: /^offset=10 is not possible: /,
    },
    {
      ask: "GET /v1/sources/SOURCE/event_summaries?cursor=abc",
      status: 422,
      code: "unknown_page",
      says: /^cursor=abc is not possible: /,
    },
    {
      ask: "GET /v1/components/search?q=x&page=2",
      status: 422,
      code: "unknown_page",
      says: "page=2 is not possible: this list has one page",
    },
    {
      ask: "GET /v1/users/me?include=idd",
      status: 422,
      code: "unknown_field",
      says: /^include names the field 'idd', which the response does not have: did you mean id\?; it has id, username, email, email_confirmed, orgs, /,
    },
    {
      ask: "GET /v1/users/me/webhooks?exclude=id,signing_key",
      status: 422,
      code: "unknown_field",
      says: /^exclude names the field 'signing_key', which the response does not have; it has id, /,
    },
    {
      ask: "DELETE /v1/sources/SOURCE/events?startid=1-0",
      status: 422,
      code: "unknown_parameter",
      says: "nothing was deleted: DELETE /v1/sources/{id}/events does not know 'startid': did you mean start_id?",
    },
    {
      ask: "DELETE /v1/subscriptions?emitter_id=SOURCE&listener_id=WEBHOOK&channel=x",
      status: 422,
      code: "unknown_parameter",
      says: "nothing was deleted: DELETE /v1/subscriptions does not know 'channel': did you mean event_name?",
    },
  ];
  test.each(mistakes)("$ask", expectAnswer);

  const warned: readonly [string, Ask, readonly (readonly [code: string, path: string, message: string])[]][] = [
    [
      "GET /v1/users/me/sources?limt=1",
      {},
      [["unknown_parameter", "limt", "the query parameter 'limt' is unknown and was ignored: did you mean limit?"]],
    ],
    [
      "GET /v1/users/me/webhooks?per_page=5&page=1",
      {},
      [
        ["unknown_parameter", "per_page", "the query parameter 'per_page' is unknown and was ignored: did you mean limit?"],
        ["unknown_parameter", "page", "the query parameter 'page' is unknown and was ignored: did you mean after?"],
      ],
    ],
    [
      "PUT /v1/webhooks/WEBHOOK",
      { body: { active: true, Name: "x" } },
      [["unknown_field", "Name", "the field 'Name' is unknown and was ignored: did you mean name?"]],
    ],
    [
      "PUT /v1/sources/SOURCE",
      { body: { enabled: true, active: true } },
      [["unknown_field", "enabled", "the field 'enabled' is unknown and was ignored: did you mean active?"]],
    ],
    [
      "GET /v1/sources/SOURCE/logs?wait=1",
      {},
      [["unknown_parameter", "wait", "the query parameter 'wait' is unknown and was ignored; GET /v1/sources/{id}/logs takes limit"]],
    ],
  ];
  test.each(warned)("is accepted with a warning: %s", async (ask, how, warnings) => {
    const [method = "", path = ""] = filled(ask).split(" ");
    const { status, body } = await api.ask(method, path, how);
    expect([status, body.warnings]).toEqual([200, warnings.map(([code, field, message]) => ({ code, message, path: field }))]);
    expect(JSON.stringify(body.data)).not.toContain("warnings");
  });

  test("of a URL that is not encoded has a warning about its &", async () => {
    const codes = async (query: string, body?: object) => {
      const answer = await api.ask("POST", `/v1/webhooks?${query}`, body === undefined ? {} : { body });
      return [answer.status, (answer.body.warnings ?? []).map(({ code }: { code: string }) => code)];
    };
    const { body } = await api.ask("POST", "/v1/webhooks?url=http://a.test/?x=1&y=2&name=n");
    expect([body.data.url, body.data.name]).toEqual(["http://a.test/?x=1", "n"]);
    expect(body.warnings).toContainEqual({
      code: "unencoded_url",
      message:
        "url ends at the first &, and 'y', 'name' after it counted as parameters of the request: if they belong to the URL, write & as %26, or send url in the body",
      path: "url",
    });
    expect(await codes("url=http://a.test/?x=1&y=2")).toEqual([200, ["unknown_parameter", "unencoded_url"]]);
    expect(await codes("name=n&url=http://a.test/?x=1")).toEqual([200, []]);
    expect(await codes(`url=${encodeURIComponent("http://a.test/?x=1&y=2")}&name=n`)).toEqual([200, []]);
    expect(await codes("url=http://a.test/&name=n")).toEqual([200, []]);
    expect(await codes("name=n", { url: "http://a.test/?x=1&y=2" })).toEqual([200, []]);
  });

  test("gets at most twenty warnings of limited length", async () => {
    const fields = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${"x".repeat(1_000)}${index}`, 1]));
    const { body, text } = await api.ask("PUT", filled("/v1/webhooks/WEBHOOK"), { body: { ...fields, active: true } });
    expect([body.warnings.length, text.length < 10_000]).toEqual([20, true]);
  });

  test("is required for warnings: valid requests have none", async () => {
    expect((await api.ask("GET", "/v1/users/me?include=id")).body).toEqual({ data: { id: "u_ada" } });
    const { body } = await api.ask("GET", `/v1/users/me/sources?limit=1&after=&before=&org_id=&include=&exclude=`);
    expect(Object.keys(body)).toEqual(["page_info", "data"]);
  });
});

describe("an unreadable component_url", () => {
  const mistakes: readonly Mistake[] = [
    {
      ask: "POST /v1/components",
      with: { body: { component_url: "https://expired.test/c.mjs" } },
      status: 422,
      code: "address_unreachable",
      says: `component_url: ${unreachable}`,
    },
    {
      ask: "POST /v1/sources",
      with: { body: { component_url: "https://hangs.test/c.mjs" } },
      status: 422,
      code: "fetch_timeout",
      says: "component_url: fetching the component took longer than 60 s",
    },
    {
      ask: "POST /v1/sources",
      with: { body: { component_url: "https://fine.test/c.mjs" } },
      status: 503,
      code: "builder_unreachable",
      says: "the builder cannot be reached: try again",
    },
    {
      ask: "POST /v1/sources",
      with: { body: { component_url: "ftp://a/c.mjs" } },
      status: 422,
      code: "invalid_input",
      says: "component_url is invalid: it must begin with http:// or https:// and have a host name, or be an address of npm such as npm:<package>/<file>",
    },
  ];
  test.each(mistakes)("$with.body", expectAnswer);
});

describe("a component with probable mistakes", () => {
  const code = "name: Misspelt; key: misspelt; deply";

  test("is saved with warnings next to data, also if it was saved before", async () => {
    for (let times = 0; times < 2; times++) {
      const { status, body } = await api.ask("POST", "/v1/components", { body: { component_code: code } });
      expect([status, Object.keys(body), body.warnings]).toEqual([200, ["data", "warnings"], [misspeltHook]]);
    }
  });

  test("is deployed and changed with its warnings and those of the request", async () => {
    const created = await api.ask("POST", "/v1/sources", { body: { component_code: code, nmae: "x" } });
    expect([created.status, created.body.warnings.map(({ path }: { path: string }) => path)]).toEqual([200, ["hooks.deply", "nmae"]]);
    const path = `/v1/sources/${created.body.data.id}`;
    const changed = await api.ask("PUT", path, { body: { component_id: created.body.data.component_id } });
    expect([changed.status, changed.body.warnings]).toEqual([200, [misspeltHook]]);
    expect((await api.ask("GET", path)).body.warnings).toBeUndefined();
  });
});

describe("a range whose bounds are swapped", () => {
  const mistakes: readonly Mistake[] = [
    {
      ask: "DELETE /v1/sources/SOURCE/events?start_id=20-0&end_id=3-0",
      status: 422,
      code: "swapped_bounds",
      says: "start_id 20-0 is after end_id 3-0: swap them",
    },
    {
      ask: "POST /v1/sources/SOURCE/replays",
      with: { body: { start_id: "3-2", end_id: "3-1" } },
      status: 422,
      code: "swapped_bounds",
      says: "start_id 3-2 is after end_id 3-1: swap them",
    },
    {
      ask: "GET /v1/sources/SOURCE/event_summaries?since=2&until=1",
      status: 422,
      code: "swapped_bounds",
      says: "since 2 is after until 1: swap them",
    },
    {
      ask: "GET /v1/webhooks/WEBHOOK/deliveries?since=2&until=1",
      status: 422,
      code: "swapped_bounds",
      says: "since 2 is after until 1: swap them",
    },
  ];
  test.each(mistakes)("$ask", expectAnswer);
});

describe("a deletion of events", () => {
  const mistakes: readonly Mistake[] = ["start_id", "end_id", "event_name"].map((name) => ({
    ask: `DELETE /v1/sources/SOURCE/events?${name}=`,
    status: 422,
    code: "empty_range",
    says: `nothing was deleted: ${name} is empty; give it a value, or send no parameters to delete all events`,
  }));
  test.each(mistakes)("with a single empty parameter is refused: $ask", expectAnswer);

  test.each(["", "?start_id=&end_id=", "?start_id=&end_id=1-0", "?start_id=1-0&end_id=&event_name="])(
    "is accepted with '%s'",
    async (query) => {
      expect((await api.ask("DELETE", filled(`/v1/sources/SOURCE/events${query}`))).status).toBe(202);
    },
  );
});

describe("an empty value that would widen what an operation does is refused", () => {
  const refused = (method: string, path: string, body?: object): Promise<Answer> =>
    api.ask(method, filled(path), body === undefined ? {} : { body });

  test.each(["start_id", "end_id", "event_name"])("a replay with an empty %s", async (name) => {
    for (const [query, given] of [
      ["", { [name]: "" }],
      ["", { listener_id: ids["WEBHOOK"], [name]: "" }],
      [`?${name}=`, undefined],
    ] as const) {
      const { status, body } = await refused("POST", `/v1/sources/SOURCE/replays${query}`, given);
      const message = `nothing was replayed: ${name} is empty; give it a value, or send none to replay all events`;
      expect([status, body.code, body.error]).toEqual([422, "empty_range", message]);
    }
  });

  test.each(["start_id", "end_id", "event_name"])("a deletion of events with an empty %s in the body", async (name) => {
    const { status, body } = await refused("DELETE", "/v1/sources/SOURCE/events", { [name]: "" });
    expect([status, body.code]).toEqual([422, "empty_range"]);
  });

  test.each([
    ["POST /v1/sources/SOURCE/runs?dry_run=", {}, "dry_run"],
    ["POST /v1/sources/SOURCE/runs?event_id=", {}, "event_id"],
    ["POST /v1/sources/SOURCE/runs", { dry_run: "" }, "dry_run"],
    ["POST /v1/components?dry_run=", { component_code: "name: Kept" }, "dry_run"],
    ["POST /v1/webhooks/WEBHOOK/dead_letters/redrive?deliveries=", undefined, "deliveries"],
    ["POST /v1/webhooks/WEBHOOK/dead_letters/redrive?since_ms=", undefined, "since_ms"],
    ["POST /v1/webhooks/WEBHOOK/dead_letters/redrive", { dry_run: "" }, "dry_run"],
    ["POST /v1/sources/SOURCE/replays", { start_id: "1-0", listener_id: "" }, "listener_id"],
    ["POST /v1/sources/SOURCE/replays", { start_id: "", end_id: "", listener_id: "" }, "listener_id"],
    ["POST /v1/workflows/p_any/test", { until_step: "" }, "until_step"],
    ["POST /v1/users/me/keys?expires_at=", { name: "k" }, "expires_at"],
    ["POST /v1/users/me/keys?scopes=", { name: "k" }, "scopes"],
  ])("%s %j", async (ask, given, name) => {
    const [method = "", path = ""] = ask.split(" ");
    const { status, body } = await refused(method, path, given);
    expect([status, body.error]).toEqual([422, `nothing was done: ${name} is empty: give it a value, or leave it out`]);
  });
});

describe("an empty parameter counts as absent", () => {
  test.each([
    "GET /v1/users/me/sources?limit=",
    "GET /v1/sources/SOURCE/event_summaries?limit=&since=&until=&expand=&event_name=",
    "GET /v1/sources/SOURCE/events?n=",
    "GET /v1/sources/SOURCE/runs?failed=",
    "GET /v1/webhooks/WEBHOOK/deliveries?outcome=&since=",
    "GET /v1/accounts?app=",
    "GET /v1/users/me/subscriptions?limit=",
    "PUT /v1/webhooks/WEBHOOK?active=&name=",
  ])("%s", async (ask) => {
    const [method = "", path = ""] = filled(ask).split(" ");
    expect((await api.ask(method, path)).status).toBe(200);
  });
});

test("fields of the body are read from the query as well", async () => {
  const { status, body } = await api.ask("POST", `/v1/sources?component_id=${ids["COMPONENT"]}&name=of+the+query`);
  expect([status, body.data.name, body.warnings]).toEqual([200, "of the query", undefined]);
});

/** All that is answered to these bytes until the connection ends. */
function sent(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1", () => socket.write(bytes));
    let answer = "";
    socket.setEncoding("utf8").on("data", (text: string) => (answer += text));
    socket.once("close", () => resolve(answer)).once("error", reject);
  });
}
