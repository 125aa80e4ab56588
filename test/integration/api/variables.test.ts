import { describe, expect, it } from "vitest";
import { variableKind } from "../../../crds/variable.ts";
import { variableLimits } from "../../../domain/variable/variable.ts";
import { acme, keys, withApi } from "./support.ts";

const api = withApi();
const ask = (method: string, path: string, body?: unknown, key: string = keys.ada) =>
  api.ask(method, path, { key, ...(body === undefined ? {} : { body }) });
const namesOf = async (key: string, query = ""): Promise<readonly string[]> =>
  (await ask("GET", `/v1/variables${query}`, undefined, key)).body.data.map(({ name }: { readonly name: string }) => name);

describe("PUT /v1/variables/{name}", () => {
  it("sets a plain variable, which lists show with its value, and changes it", async () => {
    const set = await ask("PUT", "/v1/variables/API_URL", { value: "https://a.test" });
    expect([set.status, set.body.data]).toEqual([
      200,
      expect.objectContaining({ name: "API_URL", value: "https://a.test", secret: false, origin: "own", healthy: true, problem: null }),
    ]);
    expect((await ask("PUT", "/v1/variables/API_URL", { value: "" })).body.data.value).toBe("");
    const listed = (await ask("GET", "/v1/variables")).body.data;
    expect(listed.filter(({ name }: { readonly name: string }) => name === "API_URL")).toMatchObject([{ value: "" }]);
  });

  it("keeps a secret sealed: no response and no stored spec has it, and it stays secret until it is made plain", async () => {
    const set = await ask("PUT", "/v1/variables/API_KEY", { value: "hush-hush", secret: true });
    expect(set.body.data).toMatchObject({ value: null, secret: true });
    expect((await ask("PUT", "/v1/variables/API_KEY", { value: "hush-again" })).body.data).toMatchObject({ value: null, secret: true });
    const { items } = await api.store.list(variableKind);
    expect(JSON.stringify([items, (await ask("GET", "/v1/variables")).body])).not.toMatch(/hush/);
    const plain = await ask("PUT", "/v1/variables/API_KEY", { value: "shown", secret: false });
    expect(plain.body.data).toMatchObject({ value: "shown", secret: false });
  });

  it.each([
    ["1ST", "is 1st a name"],
    ["A-B", "x"],
    ["PD_COMPONENT", "x"],
  ])("refuses the name %s", async (name, value) => {
    const { status, body } = await ask("PUT", `/v1/variables/${name}`, { value });
    expect([status, body.error]).toEqual([422, expect.stringMatching(/name/)]);
  });

  it("refuses values that are missing, of another type or too large", async () => {
    for (const body of [
      {},
      { value: 5 },
      { value: "x".repeat(variableLimits.valueBytes + 1) },
      { value: "ü".repeat(variableLimits.valueBytes / 2 + 1) },
    ])
      expect((await ask("PUT", "/v1/variables/A", body)).status).toBe(422);
  });

  it("creates one variable of concurrent requests", async () => {
    const all = await Promise.all(["1", "2", "3", "4"].map((value) => ask("PUT", "/v1/variables/AT_ONCE", { value })));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await namesOf(keys.ada)).filter((name) => name === "AT_ONCE")).toEqual(["AT_ONCE"]);
  });

  it("is that of the organization with org_id, which its members alone can see", async () => {
    await ask("PUT", `/v1/variables/TEAM?org_id=${acme.id}`, { value: "a" });
    expect(await namesOf(keys.ada, `?org_id=${acme.id}`)).toContain("TEAM");
    expect(await namesOf(keys.ada)).not.toContain("TEAM");
    expect((await ask("GET", `/v1/variables?org_id=${acme.id}`, undefined, keys.bob)).status).toBe(403);
  });

  it("refuses more bytes than an owner has, before anything is stored", async () => {
    const value = "x".repeat(variableLimits.valueBytes - 10);
    const answers = [];
    for (const name of ["B1", "B2", "B3", "B4", "B5"]) answers.push(await ask("PUT", `/v1/variables/${name}`, { value }, keys.bob));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    expect(answers.at(-1)?.body).toMatchObject({ code: "variables_full", error: expect.stringContaining("65536") });
    expect(await namesOf(keys.bob)).toEqual(["B1", "B2", "B3", "B4"]);
  });
});

describe("DELETE /v1/variables/{name}", () => {
  it("deletes it, and finds neither another owner's nor one that is not set", async () => {
    await ask("PUT", "/v1/variables/GONE", { value: "x" });
    expect((await ask("DELETE", "/v1/variables/GONE", undefined, keys.bob)).status).toBe(404);
    expect((await ask("DELETE", "/v1/variables/GONE")).status).toBe(204);
    const again = await ask("DELETE", "/v1/variables/GONE");
    expect([again.status, again.body.error]).toEqual([404, "the variable 'GONE' is not set"]);
  });
});

describe("a workflow", () => {
  it("is reported with warnings about variables that are not set", async () => {
    await ask("PUT", "/v1/variables/KNOWN", { value: "x" });
    const { body } = await ask("POST", "/v1/workflows", {
      name: "Reads variables",
      steps: [
        {
          name: "a",
          component_code: "name: Reader; type: action; props: city; process.env.IN_CODE",
          props: { city: "{{ env.KNOWN }} {{ process.env.IN_PROPS }}" },
        },
      ],
    });
    expect(body.warnings?.map(({ code, path, message }: Record<string, string>) => [code, path, message])).toEqual([
      [
        "variable_not_set",
        "steps.a.props.city",
        "step 'a' reads a variable: the variable 'IN_PROPS' is not set; set it with PUT /v1/variables/IN_PROPS",
      ],
      ["variable_not_set", "steps.a.code", expect.stringContaining("'IN_CODE'")],
    ]);
  });
});
