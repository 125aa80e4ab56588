import { beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { rootsSecret, saysTheSame, type SecretTexts } from "../../platform/secrets/installation-secrets.ts";
import { administratorFrom, parseSecrets, secretsToPrint, type Printing, type Secrets } from "../../platform/secrets/printed-secrets.ts";

const external = { address: "db.example.com:5432/headwater", rolePrefix: "headwater_" };
const own = { ...external, address: "headwater-postgres.headwater.svc:5432/headwater" };
const administrator = { username: "admin", password: "p@ss/word" };
const url = "postgres://admin:p%40ss%2Fword@db.example.com:5432/headwater";

const printed = (more: Partial<Printing> = {}): Promise<Secrets> =>
  secretsToPrint({
    postgres: external,
    administrator: undefined,
    administratorSecret: "headwater-postgres",
    existing: {},
    generated: {},
    ...more,
  });
const without = (secrets: Secrets, ...names: readonly string[]): Secrets =>
  Object.fromEntries(Object.entries(secrets).filter(([name]) => !names.includes(name)));
const setupUrl = (secrets: Secrets): string | undefined => secrets["headwater-setup"]?.["DATABASE_URL"];

describe("the Secrets to print", () => {
  let first: Secrets;
  beforeAll(async () => {
    first = await printed({ administrator });
  });

  it("have the given administrator of an external Postgres only in the Secret of setup", () => {
    expect(setupUrl(first)).toBe(url);
    expect(Object.keys(first)).not.toContain("headwater-postgres");
    const holders = Object.entries(first).filter(([, texts]) => /p@ss|p%40ss/.test(JSON.stringify(texts)));
    expect(holders.map(([name]) => name)).toEqual(["headwater-setup"]);
  });

  it("need the administrator of an external Postgres, and make up that of the chart's", async () => {
    await expect(printed()).rejects.toThrow("set PGUSER and PGPASSWORD, or give the existing Secret headwater-postgres");
    const secrets = await printed({ postgres: own });
    const { username = "", password = "" } = secrets["headwater-postgres"] ?? {};
    expect([username, password]).toEqual(["postgres", expect.stringMatching(/^[\w-]{32}$/)]);
    expect(setupUrl(secrets)).toBe(`postgres://${username}:${password}@${own.address}`);
    expect((await printed({ postgres: own, administrator }))["headwater-postgres"]).toEqual(administrator);
  });

  it("take the administrator from the existing Secret of the given name", async () => {
    const more = { existing: { "my-postgres": administrator }, administratorSecret: "my-postgres" };
    const secrets = await printed(more);
    expect(setupUrl(secrets)).toBe(url);
    expect(Object.keys(secrets)).not.toContain("my-postgres");
    await expect(printed({ ...more, existing: { "my-postgres": { username: "admin" } } })).rejects.toThrow("my-postgres lacks password");
  });

  it("are none if all exist", async () => {
    expect(await printed({ existing: first })).toEqual({});
    const chartOwned = await printed({ postgres: own });
    expect(await printed({ postgres: own, existing: chartOwned })).toEqual({});
  });

  it("are those that are missing, derived from the existing roots", async () => {
    const again = await printed({ existing: without(first, "headwater-backup", "headwater-api-key") });
    expect(Object.keys(again).toSorted()).toEqual(["headwater-api-key", "headwater-backup"]);
    for (const [name, texts] of Object.entries(again)) expect(saysTheSame(texts, first[name] ?? {}), name).toBe(true);
  });

  it("are those whose derived texts have changed, with the keys that the user added", async () => {
    const { DATABASE_URL: _, ...rest } = first["headwater-api"] ?? {};
    const existing = { ...first, "headwater-api": { ...rest, note: "mine" } };
    const again = await printed({ existing });
    expect(Object.keys(again)).toEqual(["headwater-api"]);
    expect(again["headwater-api"]).toMatchObject({ note: "mine", DATABASE_URL: first["headwater-api"]?.["DATABASE_URL"] });
    const replaced = await printed({ existing: first, administrator: { ...administrator, password: "new" } });
    expect(Object.keys(replaced)).toEqual(["headwater-setup"]);
  });

  it("are refused without the roots of existing Secrets, or with incomplete roots", async () => {
    await expect(printed({ existing: without(first, rootsSecret) })).rejects.toThrow("lack headwater-keys");
    const { "passwords-root": _, ...incomplete } = first[rootsSecret] ?? {};
    await expect(printed({ existing: { ...first, [rootsSecret]: incomplete } })).rejects.toThrow(`${rootsSecret} lacks passwords-root`);
  });

  it("include generated ones once", async () => {
    const generated = { "headwater-admin-token": (): SecretTexts => ({ "admin-token": "t" }) };
    expect(await printed({ existing: first, generated })).toEqual({ "headwater-admin-token": { "admin-token": "t" } });
    expect(await printed({ existing: { ...first, "headwater-admin-token": { "admin-token": "mine" } }, generated })).toEqual({});
  });
});

describe("the manifest of existing Secrets", () => {
  const secret = (name: string, more: object) => ({ apiVersion: "v1", kind: "Secret", metadata: { name }, ...more });
  const encoded = (text: string): string => Buffer.from(text).toString("base64");

  it("may be documents or a list, with data or stringData", () => {
    const [a, b] = [secret("a", { data: { x: encoded("1") }, stringData: { y: "2" } }), secret("b", { type: "Opaque" })];
    const expected = { a: { x: "1", y: "2" }, b: {} };
    expect(parseSecrets(`---\n${stringify(a)}---\n${stringify(b)}---\n`)).toEqual(expected);
    expect(parseSecrets(JSON.stringify({ apiVersion: "v1", kind: "List", items: [a, b] }))).toEqual(expected);
    expect(parseSecrets("")).toEqual({});
  });

  it.each([
    "key: [secret-text",
    "secret-text",
    "kind: ConfigMap\nmetadata: { name: secret-text }",
    "kind: Secret\ndata: { x: secret-text }",
  ])("is refused without quoting it: %j", (manifest) => {
    const refusal = (): unknown => parseSecrets(manifest);
    expect(refusal).toThrow("the manifest of existing Secrets");
    expect(refusal).not.toThrow("secret-text");
  });
});

describe("the administrator of Postgres in the environment", () => {
  it("is that of libpq's variables, if both are set", () => {
    expect(administratorFrom({ PGUSER: "admin", PGPASSWORD: "x" })).toEqual({ username: "admin", password: "x" });
    expect(administratorFrom({ PGUSER: "", PGPASSWORD: "" })).toBeUndefined();
    expect(() => administratorFrom({ PGUSER: "admin" })).toThrow("PGPASSWORD is missing");
    expect(() => administratorFrom({ PGPASSWORD: "text" })).toThrow("PGUSER is missing");
  });
});
