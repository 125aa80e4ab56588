/** A prop as a component writes it, and what becomes of it. `app` and `other` are apps, see prop-types.test.ts. */
export interface Row {
  readonly prop: string;
  /** Of `configurable_props`, its name apart. */
  readonly shown: object;
  readonly given?: unknown;
  /** What a run has; an expression over `this`, else `this.p`. */
  readonly value?: string;
  readonly has?: unknown;
  /** A value that is refused, and with which words. */
  readonly refused?: readonly [value: unknown, words: string];
}

export const rows: readonly Row[] = [
  { prop: `"string"`, shown: { type: "string" }, given: "a", has: "a", refused: [5, "prop 'p' is invalid: 5 must be a string"] },
  {
    prop: `{ type: "string", label: "L", description: "D" }`,
    shown: { type: "string", label: "L", description: "D" },
    given: "a",
    has: "a",
  },
  { prop: `{ type: "string", optional: true }`, shown: { type: "string", optional: true }, has: null },
  {
    prop: `{ type: "string" }`,
    shown: { type: "string" },
    given: "",
    has: "",
    refused: [undefined, "prop 'p' is missing: it needs a value of type string"],
  },
  { prop: `{ type: "string", default: "d" }`, shown: { type: "string", default: "d" }, has: "d" },
  {
    prop: `{ type: "string", secret: true }`,
    shown: { type: "string", secret: true },
    given: "s",
    has: "s",
    refused: [{ s3cret: 1 }, "prop 'p' is invalid: it must be a string"],
  },
  {
    prop: `{ type: "string", static: "fixed", default: "d" }`,
    shown: { type: "string", static: "fixed", default: "d" },
    given: "a",
    has: "fixed",
  },
  { prop: `{ type: "string", hidden: true }`, shown: { type: "string", hidden: true }, has: null },
  { prop: `{ type: "string", disabled: true, readOnly: true }`, shown: { type: "string", disabled: true, readOnly: true }, has: null },
  {
    prop: `{ type: "string", options: [{ label: "One", value: 1 }] }`,
    shown: { type: "string", options: [{ label: "One", value: 1 }] },
    given: 1,
    has: 1,
  },
  {
    prop: `{ type: "string[]", options() { return [1]; } }`,
    shown: { type: "string[]", remoteOptions: true },
    given: [{ label: "One", value: 1 }, 2],
    has: [1, 2],
    refused: [[true], "in which each element is a string"],
  },
  { prop: `{ type: "string", options: ["a", "b"] }`, shown: { type: "string", options: ["a", "b"] }, given: "b", has: "b" },
  {
    prop: `{ type: "string", options: [{ label: "A", value: "a" }] }`,
    shown: { type: "string", options: [{ label: "A", value: "a" }] },
    given: "a",
    has: "a",
  },
  {
    prop: `{ type: "string", options: [{ label: "A", value: "a" }] }`,
    shown: { type: "string", options: [{ label: "A", value: "a" }] },
    given: { label: "A", value: "a" },
    has: "a",
  },
  {
    prop: `{ type: "string", options: [{ label: "A", value: "a" }] }`,
    shown: { type: "string", options: [{ label: "A", value: "a" }] },
    given: { __lv: { label: "A", value: "a" } },
    has: "a",
  },
  {
    prop: `{ type: "string", withLabel: true, options: [{ label: "A", value: "a" }] }`,
    shown: { type: "string", withLabel: true, options: [{ label: "A", value: "a" }] },
    given: { __lv: { label: "A", value: "a" } },
    has: { label: "A", value: "a" },
  },
  {
    prop: `{ type: "string", withLabel: true, options: [{ label: "A", value: "a" }] }`,
    shown: { type: "string", withLabel: true, options: [{ label: "A", value: "a" }] },
    given: "a",
    has: { label: "A", value: "a" },
  },
  { prop: `{ type: "string", withLabel: true }`, shown: { type: "string", withLabel: true }, given: "a", has: { label: "a", value: "a" } },
  {
    prop: `{ type: "string", async options() { return []; }, useQuery: true, reloadProps: true, format: "date", surprise: { any: 1 } }`,
    shown: { type: "string", remoteOptions: true, useQuery: true, reloadProps: true, format: "date", surprise: { any: 1 } },
    given: "a",
    has: "a",
  },
  {
    prop: `{ type: "string", circle: (() => { const c = {}; c.c = c; return c; })(), big: 1n, fn() {} }`,
    shown: { type: "string" },
    given: "a",
    has: "a",
  },
  {
    prop: `"string[]"`,
    shown: { type: "string[]" },
    given: ["a", { __lv: { label: "B", value: "b" } }],
    has: ["a", "b"],
    refused: [["a", 1], `prop 'p' is invalid: ["a",1] must be an array (string[]) in which each element is a string`],
  },
  {
    prop: `{ type: "string[]", withLabel: true }`,
    shown: { type: "string[]", withLabel: true },
    given: { __lv: [{ label: "A", value: "a" }] },
    has: [{ label: "A", value: "a" }],
  },
  { prop: `"integer"`, shown: { type: "integer" }, given: 5, has: 5, refused: [5.5, "prop 'p' is invalid: 5.5 must be an integer"] },
  {
    prop: `{ type: "integer", min: 1, max: 3, default: 2 }`,
    shown: { type: "integer", min: 1, max: 3, default: 2 },
    has: 2,
    refused: [4, "prop 'p' is invalid: 4 must be an integer of at least 1 and at most 3"],
  },
  {
    prop: `{ type: "integer[]", max: 3 }`,
    shown: { type: "integer[]", max: 3 },
    given: [1, 2],
    has: [1, 2],
    refused: [[4], "prop 'p' is invalid: [4] must be an array (integer[]) in which each element is an integer of at most 3"],
  },
  {
    prop: `"boolean"`,
    shown: { type: "boolean" },
    given: false,
    has: false,
    refused: ["no", `prop 'p' is invalid: "no" must be true or false`],
  },
  { prop: `{ type: "boolean[]", default: [true] }`, shown: { type: "boolean[]", default: [true] }, has: [true] },
  {
    prop: `{ type: "object", default: { a: [1] } }`,
    shown: { type: "object", default: { a: [1] } },
    has: { a: [1] },
    refused: ["{}", `prop 'p' is invalid: "{}" must be an object`],
  },
  { prop: `"object[]"`, shown: { type: "object[]" }, given: [{ a: 1 }], has: [{ a: 1 }] },
  { prop: `"any"`, shown: { type: "any" }, given: { label: "L", value: 1 }, has: { label: "L", value: 1 } },
  { prop: `{ type: "any", default: null, optional: true }`, shown: { type: "any", default: null, optional: true }, has: null },
  { prop: `"any[]"`, shown: { type: "any[]" }, given: [1, "a"], has: [1, "a"] },
  {
    prop: `app`,
    shown: { type: "app", app: "x" },
    given: { authProvisionId: "apn_1", $auth: { key: "K" } },
    value: `[this.p.who(), Object.keys(this.p), JSON.stringify(this.p)]`,
    has: ["xK", ["who", "me"], "{}"],
    refused: ["apn", `prop 'p' is invalid: "apn" must be an account, {"authProvisionId": "apn_…"}`],
  },
  {
    prop: `{ ...app, label: "Mine" }`,
    shown: { type: "app", app: "x", label: "Mine" },
    given: { authProvisionId: "apn_1", $auth: { key: "K" } },
    value: `this.p.who()`,
    has: "xK",
  },
  { prop: `{ propDefinition: [app, "p"] }`, shown: { type: "string", label: "P", remoteOptions: true }, given: "a", has: "a" },
  {
    prop: `{ propDefinition: [app, "p", () => ({})], label: "Own", options: ["z"] }`,
    shown: { type: "string", label: "Own", options: ["z"] },
    given: "z",
    has: "z",
  },
  {
    prop: `{ propDefinition: [app, "q"], max: 9, optional: true }`,
    shown: { type: "integer", label: "N", min: 1, max: 9, description: "D", optional: true },
    given: 9,
    has: 9,
    refused: [0, "prop 'p' is invalid: 0 must be an integer of at least 1 and at most 9"],
  },
  {
    prop: `"$.interface.http"`,
    shown: { type: "$.interface.http" },
    given: { endpoint_url: "x" },
    value: `this.p.endpoint`,
    has: "https://in.test/e",
  },
  {
    prop: `{ type: "$.interface.http", customResponse: true }`,
    shown: { type: "$.interface.http", customResponse: true },
    value: `typeof this.p.respond`,
    has: "function",
  },
  {
    prop: `{ type: "$.interface.timer", default: { intervalSeconds: 60 } }`,
    shown: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
    has: { intervalSeconds: 60 },
    refused: [{ intervalSeconds: 0 }, "intervalSeconds"],
  },
  {
    prop: `{ type: "$.interface.timer", static: { intervalSeconds: 3600 }, hidden: true }`,
    shown: { type: "$.interface.timer", static: { intervalSeconds: 3600 }, hidden: true },
    has: { intervalSeconds: 3600 },
  },
  {
    prop: `"$.interface.timer"`,
    shown: { type: "$.interface.timer" },
    given: { cron: "0 9 * * *" },
    has: { cron: "0 9 * * *" },
    refused: [undefined, `prop 'p' is missing: it needs a value of type $.interface.timer, such as {"intervalSeconds": 900} or`],
  },
  {
    prop: `{ type: "$.interface.apphook", appProp: "app", eventNames() { return ["e"]; } }`,
    shown: { type: "$.interface.apphook", appProp: "app" },
    has: null,
  },
  {
    prop: `"$.service.db"`,
    shown: { type: "$.service.db" },
    value: `(this.p.set("k", { a: 1 }), [this.p.get("k"), this.p.get("none") ?? null])`,
    has: [{ a: 1 }, null],
  },
  {
    prop: `{ type: "alert", alertType: "info", content: "Read this" }`,
    shown: { type: "alert", alertType: "info", content: "Read this" },
    has: null,
  },
  {
    prop: `{ type: "dir", accessMode: "read-write", sync: true }`,
    shown: { type: "dir", accessMode: "read-write", sync: true },
    has: "/tmp/p",
  },
  {
    prop: `"data_store"`,
    shown: { type: "data_store" },
    value: `(async () => { await this.p.set("a", 1); const seen = []; for await (const entry of this.p) seen.push(entry); await this.p.set("b", 2); await this.p.delete("b"); return [await this.p.get("a"), await this.p.get("z", "none"), await this.p.has("b"), await this.p.keys(), await this.p.size(), seen]; })()`,
    has: [1, "none", false, ["a"], 1, [["a", 1]]],
  },
  {
    prop: `{ type: "http_request", default: { method: "POST", url: "https://example.com" } }`,
    shown: { type: "http_request", default: { method: "POST", url: "https://example.com" } },
    value: `[{ ...this.p }, typeof this.p.execute]`,
    has: [{ method: "POST", url: "https://example.com" }, "function"],
  },
  {
    prop: `{ type: "sql", auth: { app: "postgresql" }, default: { query: "select 1" } }`,
    shown: { type: "sql", auth: { app: "postgresql" }, default: { query: "select 1" } },
    given: { query: "select $1", params: [2] },
    has: { query: "select $1", params: [2] },
  },
  { prop: `{ type: "sql" }`, shown: { type: "sql" }, given: "select 1", has: { query: "select 1", params: [] } },
  {
    prop: `{ type: "$.airtable.baseId", appProp: "app" }`,
    shown: { type: "$.airtable.baseId", appProp: "app" },
    given: "app1",
    has: "app1",
  },
  { prop: `{ type: "$.shop.product", appProp: "app" }`, shown: { type: "$.shop.product", appProp: "app" }, given: "p1", has: "p1" },
  { prop: `"$.discord.channel[]"`, shown: { type: "$.discord.channel[]" }, given: ["1", "2"], has: ["1", "2"] },
];
