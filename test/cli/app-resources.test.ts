import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { ConnectableApp, OAuthClient } from "../../client/generated/operations.ts";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();

const app = (name: string, more = ""): string => `
apiVersion: headwater.dev/v1alpha1
kind: App
metadata: { name: acme }
spec:
  slug: acme
  name: ${name}
  auth: oauth2
  categories: [Work]
  documentationUrl: https://acme.example/docs
  oauth:
    authorizationUrl: https://acme.example/authorize
    tokenUrl: https://acme.example/token
    revocationUrl: https://acme.example/revoke
    scopes: [read, write]
    scopeSeparator: ","
    authorizationParameters: { access_type: offline }
    clientAuthentication: body
    pkce: true
  test: { url: "https://acme.example/me", name: user.name }
${more}`;
const keys = `
apiVersion: headwater.dev/v1alpha1
kind: App
metadata: { name: ledger }
spec: { slug: ledger, name: Ledger, auth: keys, fields: [{ name: api_key, label: Key, secret: true }] }
`;
const client = (origin = "https://acme.example"): string => `
apiVersion: v1
kind: Secret
metadata: { name: acme }
stringData: { secret: of-the-client }
---
apiVersion: headwater.dev/v1alpha1
kind: OAuthClient
metadata: { name: acme }
spec:
  app: acme
  clientId: client-1
  clientSecret: { secretKeyRef: { name: acme, key: secret } }
  origins: [${origin}]
`;

async function fileOf(...documents: readonly string[]): Promise<string> {
  const file = join(headwater.world.directory, "apps.yaml");
  await writeFile(file, documents.join("\n---\n"));
  return file;
}
const apply = async (...documents: readonly string[]): Promise<readonly string[]> =>
  (await headwater.ok("apply", "-f", await fileOf(...documents))).trim().split("\n");
const appNow = async () => (await headwater.call<{ data: ConnectableApp }>("GET", "/apps/acme")).body.data;
const clients = async () => (await headwater.call<{ data: readonly OAuthClient[] }>("GET", "/users/me/oauth_clients")).body.data;

it("creates an app before the client that needs it, changes what differs, and leaves the rest", async () => {
  expect(await apply(client(), app("Acme"), keys)).toEqual(["app/acme created", "app/ledger created", "oauthclient/acme created"]);
  expect(await apply(client(), app("Acme"), keys)).toEqual(["app/acme unchanged", "app/ledger unchanged", "oauthclient/acme unchanged"]);
  expect(await appNow()).toMatchObject({
    name: "Acme",
    origin: "own",
    has_client: true,
    categories: ["Work"],
    documentation_url: "https://acme.example/docs",
    oauth: {
      scope_separator: ",",
      client_authentication: "body",
      test_name: "user.name",
      authorization_params: { access_type: "offline" },
    },
  });
  expect(await clients()).toMatchObject([{ app: "acme", client_id: "client-1", has_secret: true, scopes: null }]);
  expect(await apply(app("Acme Two"))).toEqual(["app/acme changed"]);
  expect((await appNow()).name).toBe("Acme Two");
});

it("exports what it applies, without the apps that come with Headwater and without secrets, and applies it again elsewhere", async () => {
  const text = await headwater.ok("export");
  expect(text).not.toContain("of-the-client");
  const exported = parseAllDocuments(text).map((document) => document.toJS() as { kind: string; metadata: { name: string }; spec: object });
  expect(exported.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(["App acme", "App ledger", "OAuthClient acme"]);
  expect(exported[0]?.spec).toEqual({
    slug: "acme",
    name: "Acme Two",
    auth: "oauth2",
    categories: ["Work"],
    documentationUrl: "https://acme.example/docs",
    oauth: {
      authorizationUrl: "https://acme.example/authorize",
      tokenUrl: "https://acme.example/token",
      revocationUrl: "https://acme.example/revoke",
      scopes: ["read", "write"],
      scopeSeparator: ",",
      authorizationParameters: { access_type: "offline" },
      clientAuthentication: "body",
    },
    test: { url: "https://acme.example/me", name: "user.name" },
  });
  expect(await headwater.ok("export", "apps", "oauth-clients")).toBe(text);
  for (const name of ["oauth-client/acme", "app/acme", "app/ledger"]) await headwater.ok("delete", name, "--yes");
  expect(await clients()).toEqual([]);
  expect(await apply(text)).toEqual(["app/acme created", "app/ledger created", "oauthclient/acme created"]);
  expect(await headwater.ok("export")).toContain("clientAuthentication: body");
  expect(await clients()).toMatchObject([{ client_id: "client-1", has_secret: false }]);
});

it("gives the client's secret for no origin that the file does not list", async () => {
  const { code, stderr } = await headwater.hw("apply", "--force", "-f", await fileOf(client("https://other.example")));
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining("app acme has the address https://acme.example, which origins of OAuthClient acme does not list"),
  ]);
  expect(await clients()).toMatchObject([{ has_secret: false }]);
});

it("refuses fields that REST does not have, and names them", async () => {
  const { code, stderr } = await headwater.hw("apply", "-f", await fileOf(app("Acme Three", "  placement: { in: query, name: token }")));
  expect([code, stderr]).toEqual([2, expect.stringMatching(/App acme has placement.*\n.*kubectl/s)]);
});

it("lists apps and clients, and takes an app's slug for its client", async () => {
  expect(await headwater.ok("list", "apps")).toMatch(/^SLUG +KIND +NAME +ORIGIN +CLIENT\n/);
  expect(await headwater.ok("oauth-clients", "list")).toMatch(/ acme +client-1 /);
  expect(await headwater.ok("oauth-clients", "get", "acme")).toContain('"client_id": "client-1"');
  // The names of apps are those of other things too.
  expect((await headwater.hw("describe", "slack")).stderr).toContain('nothing is named "slack"');
  expect(await headwater.ok("describe", "app/slack")).toMatch(/^origin: +built_in$/m);
});

it("applies an app and an account of a client, with what its service does otherwise, and exports the app as it is", async () => {
  const depot = `
apiVersion: headwater.dev/v1alpha1
kind: App
metadata: { name: depot }
spec:
  slug: depot
  name: Depot
  auth: oauth2
  oauth:
    grant: client_credentials
    tokenUrl: http://127.0.0.1:9/token
    requestFormat: json
    tokenPath: issued
    tokenParameters: { audience: "https://depot.example" }
    voidGrantErrors: [gone]
---
apiVersion: v1
kind: Secret
metadata: { name: stock }
stringData: { secret: of-the-stock }
---
apiVersion: headwater.dev/v1alpha1
kind: Account
metadata: { name: stock }
spec:
  app: depot
  name: Stock
  credentials: {}
  oauth:
    grant: client_credentials
    tokenUrl: http://127.0.0.1:9/token
    clientId: c
    clientSecret: { secretKeyRef: { name: stock, key: secret } }
`;
  expect(await apply(depot)).toEqual(["app/depot created", "account/stock created"]);
  expect(await apply(depot)).toContain("app/depot unchanged");
  const accounts = (await headwater.call<{ data: readonly object[] }>("GET", "/users/me/accounts?app=depot")).body.data;
  expect(accounts).toMatchObject([{ name: "Stock", grant_type: "client_credentials" }]);
  const exported = await headwater.ok("export");
  for (const field of ["grant: client_credentials", "requestFormat: json", "tokenPath: issued", "audience:", "- gone"])
    expect(exported).toContain(field);
  expect(exported).not.toContain("of-the-stock");
  const refresh = depot.replace(
    "grant: client_credentials\n    tokenUrl: http://127.0.0.1:9/token\n    clientId: c",
    "tokenUrl: http://127.0.0.1:9/token\n    clientId: c",
  );
  expect((await headwater.hw("apply", "-f", await fileOf(refresh))).stderr).toContain("has oauth with a refresh token");
});
