import { describe, expect, it } from "vitest";
import { acme, ada, keys, withApi } from "./support.ts";

const limits = { resources: 12, bytes: 400_000 };
const api = withApi({ storage: limits });

const save = (name: string, padding: number, query = "") =>
  api.ask("POST", `/v1/components${query}`, { body: { component_code: `name: ${name}; about: ${"x".repeat(padding)}` } });

describe("what an owner stores", () => {
  it("is bounded in bytes, for requests at once too, and there is room again after a deletion", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, nth) => save(`Large ${nth}`, 100_000)));
    const refused = answers.filter(({ status }) => status === 429);
    const saved = answers.filter(({ status }) => status === 200);
    expect([saved.length, refused.length]).toEqual([3, 5]);
    expect(refused[0]?.body).toMatchObject({ code: "storage_full", details: { resources: 3, limits } });
    expect(refused[0]?.body.error).toMatch(
      /bytes would be stored for this owner and the organizations with the same creator, the limit is 400000: delete components/,
    );
    for (const { body } of saved.slice(1)) expect((await api.ask("DELETE", `/v1/components/${body.data.id}`)).status).toBe(204);
    // Deletions are read for a part of the time only.
    await expect.poll(async () => (await save("Large again", 100_000)).status).toBe(200);
  });

  it("leaves room to an organization and to other users", async () => {
    expect((await save("Of Acme", 100_000, `?org_id=${acme.id}`)).status).toBe(200);
    const ofBob = { key: keys.bob, body: { component_code: "name: Bob's" } };
    expect((await api.ask("POST", "/v1/components", ofBob)).status).toBe(200);
  });

  it("counts for the user who created an organization, and all organizations of that user", async () => {
    const created = await api.ask("POST", "/v1/orgs", { key: keys.bob, body: { name: "Bobs", orgname: "bobs" } });
    const inIt = (name: string) =>
      api.ask("POST", `/v1/components?org_id=${created.body.data.id}`, {
        key: keys.bob,
        body: { component_code: `name: ${name}; about: ${"x".repeat(150_000)}` },
      });
    expect((await inIt("One")).status).toBe(200);
    expect((await inIt("Two")).status).toBe(200);
    const own = { key: keys.bob, body: { component_code: `name: Own; about: ${"x".repeat(150_000)}` } };
    expect((await api.ask("POST", "/v1/components", own)).body).toMatchObject({ code: "storage_full" });
  });

  it("is bounded in number, over all kinds", async () => {
    const statuses: number[] = [];
    for (let nth = 0; nth < limits.resources; nth++)
      statuses.push((await api.ask("POST", "/v1/webhooks", { body: { url: `https://example.com/${nth}`, name: `w${nth}` } })).status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    const { rows } = await countOf(ada.id);
    expect(rows).toBe(limits.resources);
  });
});

async function countOf(owner: string): Promise<{ readonly rows: number }> {
  const { n } = await api.database.db
    .selectFrom("resources")
    .select(({ fn }) => fn.countAll<number>().as("n"))
    .where("namespace", "=", `hw-${owner.replace("_", "-")}`)
    .executeTakeFirstOrThrow();
  return { rows: Number(n) };
}
