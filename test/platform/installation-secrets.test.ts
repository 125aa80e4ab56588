import { beforeAll, describe, expect, it } from "vitest";
import { installationSecrets, newRoots, saysTheSame, type Roots, type SecretTexts } from "../../platform/secrets/installation-secrets.ts";

const postgres = { address: "db.example.com:5432/headwater", username: "postgres", password: "p@ss/word" };
let roots: Roots;
let secrets: Readonly<Record<string, SecretTexts>>;

beforeAll(async () => {
  roots = await newRoots();
  secrets = await installationSecrets(roots, postgres);
});

const holdersOf = (text: string): readonly string[] =>
  Object.entries(secrets)
    .filter(([, texts]) => JSON.stringify(texts).includes(JSON.stringify(text).slice(1, -1)))
    .map(([name]) => name)
    .toSorted();

describe("the Secrets of an installation", () => {
  it("are derived from the roots, equal each time", async () => {
    const again = await installationSecrets(roots, postgres);
    expect(Object.keys(again)).toEqual(Object.keys(secrets));
    for (const [name, texts] of Object.entries(again)) expect(saysTheSame(texts, secrets[name] ?? {}), name).toBe(true);
  });

  it("differ for other roots or another Postgres", async () => {
    const others = await installationSecrets(await newRoots(), postgres);
    for (const [name, texts] of Object.entries(others)) expect(saysTheSame(texts, secrets[name] ?? {}), name).toBe(false);
    const moved = await installationSecrets(roots, { ...postgres, address: "other:5432/headwater" });
    expect(saysTheSame(moved["headwater-api"] ?? {}, secrets["headwater-api"] ?? {})).toBe(false);
  });

  it("give each role its own secrets and no others", () => {
    expect(holdersOf(roots.nats)).toEqual(["headwater-operator", "headwater-setup"]);
    expect(holdersOf(roots.master)).toEqual(["headwater-delivery", "headwater-operator"]);
    expect(holdersOf(encodeURIComponent(postgres.password))).toEqual(["headwater-setup"]);
    expect(holdersOf(roots.apiKey)).toEqual(["headwater-api-key", "headwater-setup"]);
    expect(holdersOf(roots.passwords)).toEqual([]);
    expect(Object.keys(secrets["headwater-ingress"] ?? {})).toEqual(["nats.creds"]);
    expect(Object.keys(secrets["headwater-builder"] ?? {})).toEqual(["nats.creds"]);
    expect(Object.keys(secrets["headwater-backup"] ?? {})).toEqual(["nats.creds", "backup.key", "DATABASE_URL"]);
    expect(secrets["headwater-backup"]?.["DATABASE_URL"]).toMatch(/^postgres:\/\/headwater_backup:/);
  });

  it("give all NATS servers one password for their routes", () => {
    const { "cluster-auth.conf": configuration, "routes-password": password } = secrets["headwater-nats"] ?? {};
    expect(password).toMatch(/^[\w-]{43}$/);
    expect(configuration).toContain(JSON.stringify(password));
    expect(holdersOf(password ?? "")).toEqual(["headwater-nats"]);
  });

  it("name the roles' users of Postgres with the prefix of the installation", async () => {
    const prefixed = await installationSecrets(roots, { ...postgres, rolePrefix: "team_a_" });
    expect(prefixed["headwater-api"]?.["DATABASE_URL"]).toMatch(/^postgres:\/\/team_a_api:/);
    expect(prefixed["headwater-setup"]?.["database-passwords.json"]).toContain('"prefix":"team_a_"');
    expect(secrets["headwater-api"]?.["DATABASE_URL"]).toMatch(/^postgres:\/\/headwater_api:/);
    expect(secrets["headwater-setup"]?.["database-passwords.json"]).not.toContain("prefix");
  });

  it("give NATS no secret except the password of its routes", () => {
    expect(secrets["headwater-nats"]?.["auth.conf"]).not.toMatch(/\bS[UAO][A-Z2-7]{54,}/);
  });
});
