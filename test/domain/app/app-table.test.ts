import { describe, expect, it } from "vitest";
import { fieldsOf, isConnectable, knownAuthTypes, searchApps, type App } from "../../../domain/app/app.ts";
import { joinTables, parseAppTable } from "../../../domain/app/app-table.ts";
import { appSchema } from "../../../api/apps/schemas.ts";
import { appResponse } from "../../../api/apps/response.ts";
import { appKind } from "../../../crds/app.ts";
import { readApps } from "../../../platform/process/apps.ts";

const acme = { slug: "acme", name: "Acme", auth: "oauth2", categories: [] } as const;
const oauth = { authorizationUrl: "https://acme.example/authorize", tokenUrl: "https://acme.example/token" };

describe("the tables of apps", async () => {
  const apps = [...(await readApps()).values()];

  it("have at least forty services that are connected by signing in, and more than a hundred others", () => {
    expect(apps.filter(({ categories, auth }) => auth === "oauth2" && categories.length > 0).length).toBeGreaterThanOrEqual(40);
    expect(apps.length).toBeGreaterThan(150);
  });

  it("have the addresses of Slack", () => {
    expect(apps.find(({ slug }) => slug === "slack")).toMatchObject({
      auth: "oauth2",
      oauth: {
        authorizationUrl: "https://slack.com/oauth/v2/authorize",
        tokenUrl: "https://slack.com/api/oauth.v2.access",
        scopeSeparator: ",",
      },
    });
  });

  it("fit the kind App, and the form of responses", () => {
    for (const app of apps) {
      expect(appKind.spec.safeParse(app).error, app.slug).toBeUndefined();
      expect(appSchema.safeParse(appResponse({ ...app, origin: "built_in" }, false)).error, app.slug).toBeUndefined();
    }
  });

  it("have the service's page about clients for each app of our own table that is connected by signing in", () => {
    const own = apps.filter(({ auth, categories }) => auth === "oauth2" && categories.length > 0);
    expect(own.filter(({ documentationUrl }) => documentationUrl === undefined).map(({ slug }) => slug)).toEqual([]);
  });

  it("set authorization parameters that the flow does not set itself", () => {
    const ours = ["client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method"];
    const set = apps.flatMap(({ oauth: given }) => Object.keys(given?.authorizationParameters ?? {}));
    expect(set.filter((name) => ours.includes(name))).toEqual([]);
  });
});

describe("a table of apps", () => {
  it.each([
    ["an address without TLS", [{ ...acme, oauth: { ...oauth, tokenUrl: "http://acme.example/token" } }]],
    ["a page without TLS", [{ ...acme, oauth, documentationUrl: "http://acme.example/docs" }]],
    ["a page that is no address", [{ ...acme, oauth, documentationUrl: "javascript:alert(1)" }]],
    ["credentials in an address", [{ ...acme, oauth: { ...oauth, tokenUrl: "https://a:b@acme.example/token" } }]],
    [
      "a slug twice",
      [
        { ...acme, oauth },
        { ...acme, oauth },
      ],
    ],
    [
      "slugs out of order",
      [
        { ...acme, oauth },
        { ...acme, slug: "aaa", oauth },
      ],
    ],
    ["a scope twice", [{ ...acme, oauth: { ...oauth, scopes: ["read", "read"] } }]],
    ["an unknown field", [{ ...acme, oauth, color: "red" }]],
    ["oauth2 without an authorization endpoint", [{ ...acme, oauth: { tokenUrl: oauth.tokenUrl } }]],
    ["keys without fields", [{ ...acme, auth: "keys" }]],
    ["a slug in capitals", [{ ...acme, slug: "Acme", oauth }]],
  ])("refuses %s", (_what, table) => {
    expect(() => parseAppTable(table)).toThrow();
  });

  it("prefers apps of the earlier table", () => {
    const first: App = { ...acme, name: "first" };
    const second: App = { ...acme, name: "second" };
    const other: App = { ...acme, slug: "b" };
    expect([...joinTables([first], [second, other]).values()].map(({ slug, name }) => [slug, name]).toSorted()).toEqual([
      ["acme", "first"],
      ["b", "Acme"],
    ]);
  });
});

describe("an app", () => {
  it("is found by words of its name, slug and categories, those whose name begins with the query first", () => {
    const apps = [
      { slug: "a", name: "Mail Box", categories: ["Files"] },
      { slug: "box", name: "Box", categories: ["Files"] },
      { slug: "drive", name: "Drive", categories: ["Files"] },
    ];
    expect(searchApps(apps, "box").map(({ slug }) => slug)).toEqual(["box", "a"]);
    expect(searchApps(apps, "FILES dri").map(({ slug }) => slug)).toEqual(["drive"]);
    expect(searchApps(apps, " ").map(({ slug }) => slug)).toEqual(["box", "drive", "a"]);
    expect(searchApps(apps, "nothing")).toEqual([]);
  });

  it("has the fields and the type of its kind", () => {
    expect(fieldsOf({ auth: "basic" }).map(({ name }) => name)).toEqual(["username", "password"]);
    expect(fieldsOf({ auth: "keys", fields: [{ name: "api_key" }] })).toEqual([{ name: "api_key" }]);
    expect(fieldsOf({ auth: "oauth2", fields: [{ name: "ignored" }] })).toEqual([]);
    expect(Object.values(knownAuthTypes)).toEqual(["oauth", "keys", "keys", "none"]);
    expect(isConnectable({ auth: "keys", oauth })).toBe(false);
    expect(isConnectable({ auth: "oauth2", oauth })).toBe(true);
  });
});
