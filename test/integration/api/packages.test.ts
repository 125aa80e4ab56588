import { expect, test } from "vitest";
import type { Connector } from "../../../domain/component/connector.ts";
import type { PackageListing } from "../../../domain/component/package-listing.ts";
import { InvalidInput } from "../../../domain/errors.ts";
import { pinLine } from "../../../domain/component/npm-origin.ts";
import { withApi } from "./support.ts";

const pinned = { name: "@acme/piece-ledger", version: "2.1.0", integrity: "sha512-abc" };
const listing: PackageListing = {
  ...pinned,
  deprecated: "use another",
  kind: "piece",
  piece: { displayName: "Ledger", app: "ledger", auth: [{ kind: "oauth2", tokenUrl: "https://ledger.example/token" }] },
  components: [
    { address: "#action/add", type: "action", name: "Add" },
    { address: "#trigger/new", type: "source", name: "New", strategy: "polling" },
  ],
};
const connector: Connector = {
  name: "@acme/piece-ledger",
  version: "2.1.0",
  displayName: "Ledger",
  app: "ledger",
  auth: ["oauth2"],
  actions: [{ name: "add", label: "Add Entry" }],
  triggers: [],
  bundleBytes: 1,
};
const asked: unknown[] = [];
const api = withApi(
  {},
  {
    fetchComponent: async () => ({ code: `${pinLine(pinned)}name: Ledger` }),
    connectors: async () => ({ connectors: [connector], failed: [] }),
    listPackage: async (wanted) => {
      asked.push(wanted);
      if (wanted.name === "absent") throw new InvalidInput("package absent is not in the npm registry", { code: "package_not_found" });
      return listing;
    },
  },
);
const get = (path: string) => api.ask("GET", `/v1${path}`);

test("lists the components of a package whose name has a slash, with their addresses and a warning", async () => {
  const { status, body } = await get("/packages/@acme%2Fpiece-ledger/components?version=%5E2");
  expect(asked.at(-1)).toEqual({ name: "@acme/piece-ledger", range: "^2" });
  expect([status, body.data]).toMatchObject([
    200,
    [
      { component_url: "npm:@acme/piece-ledger@2.1.0#action/add", type: "action", trigger: null },
      { component_url: "npm:@acme/piece-ledger@2.1.0#trigger/new", type: "source", trigger: "polling" },
    ],
  ]);
  expect(body.warnings).toMatchObject([{ code: "package_deprecated" }]);
});

test("returns what a package is", async () => {
  const { body } = await get("/packages/@acme%2Fpiece-ledger");
  expect(body.data).toMatchObject({ kind: "piece", app: "ledger", actions: 1, sources: 1, auth: [{ kind: "oauth2", scopes: [] }] });
});

test("refuses names and versions that are none, without asking a builder, and returns 404 for absent packages", async () => {
  const before = asked.length;
  expect((await get("/packages/..%2F..%2Fetc")).body).toMatchObject({ code: "invalid_npm_address" });
  expect((await get("/packages/plain?version=https:%2F%2Fexample.com%2Fx.tgz")).body).toMatchObject({ code: "invalid_npm_address" });
  expect(asked.length).toBe(before);
  const { status, body } = await get("/packages/absent");
  expect([status, body.code]).toEqual([404, "package_not_found"]);
});

test("shows where a component of npm came from, and refuses addresses that are none", async () => {
  const url = "npm:@acme/piece-ledger@^2#action/add";
  const { body } = await api.ask("POST", "/v1/components", { body: { component_url: url } });
  expect(body.data).toMatchObject({ origin: { url, package: "@acme/piece-ledger", version: "2.1.0", integrity: "sha512-abc" } });
  const refused = await api.ask("POST", "/v1/components", { body: { component_url: "npm:../x" } });
  expect([refused.status, refused.body]).toMatchObject([422, { code: "invalid_npm_address" }]);
  const plain = await api.ask("POST", "/v1/components", { body: { component_code: "name: Plain" } });
  expect(plain.body.data).toMatchObject({ origin: null });
});

test("searches the index of connectors", async () => {
  expect((await get("/connectors?q=entry")).body.data).toMatchObject([
    { package: "@acme/piece-ledger", matches: [{ component_url: "npm:@acme/piece-ledger@2.1.0#action/add", name: "Add Entry" }] },
  ]);
  expect((await get("/connectors?q=nothing")).body.data).toEqual([]);
});
