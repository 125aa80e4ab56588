import { expect, it } from "vitest";
import { acme, keys, withApi } from "./support.ts";

/** Variables of the installation are stored in the organization that has the shared apps, and are the administrator's. */
const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken, sharedAppsOwner: acme.id });

const admin = (method: string, path: string, body?: object) =>
  api.ask(method, `/admin/v1${path}`, { key: adminToken, ...(body === undefined ? {} : { body }) });
const ask = (method: string, path: string, body?: object, key: string = keys.ada) =>
  api.ask(method, `/v1${path}`, { key, ...(body === undefined ? {} : { body }) });

it("are set with the admin token, and read by all owners; an own one of the name comes first", async () => {
  expect((await admin("PUT", "/variables/REGION", { value: "eu" })).body.data).toMatchObject({
    name: "REGION",
    value: "eu",
    origin: "shared",
  });
  await admin("PUT", "/variables/KEY", { value: "hush-hush", secret: true });
  const listed = (await ask("GET", "/variables", undefined, keys.bob)).body;
  expect(listed.data).toMatchObject([
    { name: "KEY", value: null, origin: "shared" },
    { name: "REGION", value: "eu", origin: "shared" },
  ]);
  expect(JSON.stringify([listed, (await admin("GET", "/variables")).body])).not.toContain("hush");
  expect((await ask("PUT", "/variables/REGION", { value: "us" }, keys.bob)).body.data).toMatchObject({ value: "us", origin: "own" });
  expect((await ask("GET", "/variables", undefined, keys.bob)).body.data[1]).toMatchObject({ value: "us", origin: "own" });
  expect((await admin("GET", "/variables")).body.data[1]).toMatchObject({ value: "eu" });
});

it("are not changed by members of the organization that has them, nor are its own ones shared", async () => {
  await admin("PUT", "/variables/COMMON", { value: "a" });
  for (const method of ["PUT", "DELETE"]) {
    const { status, body } = await ask(method, `/variables/COMMON?org_id=${acme.id}`, method === "PUT" ? { value: "b" } : undefined);
    expect([status, body.error]).toEqual([403, expect.stringContaining("PUT /admin/v1/variables/COMMON")]);
  }
  await ask("PUT", `/variables/OF_ACME?org_id=${acme.id}`, { value: "a" });
  const names = (await ask("GET", "/variables", undefined, keys.bob)).body.data.map(({ name }: { readonly name: string }) => name);
  expect(names).toContain("COMMON");
  expect(names).not.toContain("OF_ACME");
});

it("are deleted with the admin token only", async () => {
  await admin("PUT", "/variables/GONE", { value: "a" });
  expect((await ask("DELETE", "/variables/GONE", undefined, keys.bob)).status).toBe(404);
  expect((await admin("DELETE", "/variables/GONE")).status).toBe(204);
  expect((await admin("DELETE", "/variables/GONE")).status).toBe(404);
});
