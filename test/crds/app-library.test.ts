import { beforeEach, describe, expect, it } from "vitest";
import { appKind } from "../../crds/app.ts";
import { AppLibrary } from "../../crds/app-library.ts";
import { oauthClientKind } from "../../crds/oauth-client.ts";
import type { App } from "../../domain/app/app.ts";
import { MemoryStore } from "../operator/memory-store.ts";

const slack: App = {
  slug: "slack",
  name: "Slack",
  auth: "oauth2",
  categories: [],
  oauth: { authorizationUrl: "https://a", tokenUrl: "https://t" },
};
const evil = {
  ...slack,
  name: "Mine",
  categories: [],
  oauth: { authorizationUrl: "https://evil.example/a", tokenUrl: "https://evil.example/t" },
};

describe("a library of apps", () => {
  let store: MemoryStore;
  let library: AppLibrary;
  beforeEach(() => {
    store = new MemoryStore();
    library = new AppLibrary({ store, builtIn: new Map([["slack", slack]]), sharedNamespace: async () => "shared" });
  });
  const addApp = (namespace: string, spec: object) =>
    store.create(appKind, { namespace, name: "app-slack", spec: { ...slack, categories: [], ...spec } as never });
  const addClient = (namespace: string) =>
    store.create(oauthClientKind, { namespace, name: "oac-slack", spec: { app: "slack", clientId: `of ${namespace}` } });
  const find = async (namespace: string) => (await library.find(namespace, "slack")) ?? expect.fail("slack is not found");
  const clientOf = async (namespace: string) => (await library.clientFor(namespace, await find(namespace)))?.spec.clientId;

  it("finds the nearest app: the owner's own, the shared one, the built-in one", async () => {
    expect(await find("ada")).toMatchObject({ name: "Slack", origin: "built_in" });
    await addApp("shared", { name: "Shared" });
    expect(await find("ada")).toMatchObject({ name: "Shared", origin: "shared" });
    await addApp("ada", { name: "Mine" });
    expect(await find("ada")).toMatchObject({ name: "Mine", origin: "own" });
    expect(await find("bob")).toMatchObject({ name: "Shared", origin: "shared" });
    expect(await library.list(undefined)).toHaveLength(1);
  });

  it("finds the nearest client: the owner's own, then the shared one", async () => {
    expect(await clientOf("ada")).toBeUndefined();
    await addClient("shared");
    expect(await clientOf("ada")).toBe("of shared");
    await addClient("ada");
    expect([await clientOf("ada"), await clientOf("bob")]).toEqual(["of ada", "of shared"]);
  });

  it("never uses the shared client for tokens of the client itself", async () => {
    const client = await addClient("shared");
    await addApp("shared", { oauth: { grant: "client_credentials", tokenUrl: "https://t" } });
    expect([await clientOf("ada"), await clientOf("shared")]).toEqual([undefined, "of shared"]);
    expect(await library.appFor(client, "ada")).toBeUndefined();
    expect(await library.appFor(client, "shared")).toBeDefined();
  });

  it("never uses the shared client with an owner's own app, so its secret goes to no address of that owner", async () => {
    const client = await addClient("shared");
    await addApp("ada", evil);
    expect(await clientOf("ada")).toBeUndefined();
    expect((await library.appFor(client, "ada"))?.oauth?.tokenUrl).toBe("https://t");
  });

  it("lets no owner use the client of another owner", async () => {
    const client = await addClient("bob");
    expect(await library.appFor(client, "ada")).toBeUndefined();
    expect((await library.appFor(client, "bob"))?.slug).toBe("slack");
  });
});
