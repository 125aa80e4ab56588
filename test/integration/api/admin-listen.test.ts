import { expect, test } from "vitest";
import { keys, request, withApi } from "./support.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
const api = withApi({ adminToken, adminListen: { host: "127.0.0.1", port: 0 } });

test("the admin API exists only at its own address, in every spelling of its paths", async () => {
  const spellings = [
    "/admin/v1/users",
    "/admin/v1/users/",
    "//admin/v1/users",
    "/Admin/V1/users",
    "/v1/../admin/v1/users",
    "/admin/v1//users",
  ];
  for (const path of spellings) {
    const { status, body } = await api.ask("GET", path, { key: adminToken });
    expect([path, status, JSON.stringify(body).includes("u_")]).toEqual([path, 404, false]);
  }
  expect((await request(api.adminUrl, "GET", "/admin/v1/users", { key: adminToken })).status).toBe(200);
});

test("the address of the admin API has the rest of the API too, for the console", async () => {
  expect((await request(api.adminUrl, "GET", "/v1/users/me", { key: keys.ada })).status).toBe(200);
  expect((await request(api.adminUrl, "GET", "/admin/v1/users", { key: keys.ada })).status).toBe(401);
  expect((await api.ask("GET", "/v1/users/me", { key: keys.ada })).status).toBe(200);
});
