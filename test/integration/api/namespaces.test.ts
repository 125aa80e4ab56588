import { beforeEach, describe, expect, test } from "vitest";
import type { NamespaceClaims } from "../../../api/namespaces/ports.ts";
import { NotFound } from "../../../domain/errors.ts";
import { acme, ada, bob, keys, withApi, type Answer } from "./support.ts";

const adminToken = "an-admin-token-of-many-characters-0123456789";
/** `owner namespace`. The cluster has the namespace team-a with the label of each owner. */
const confirmed = new Set<string>();
const namespaces: NamespaceClaims = {
  list: async (owner) =>
    [...new Set(["team-a", ...[...confirmed].filter((key) => key.startsWith(`${owner} `)).map((key) => key.split(" ")[1] ?? "")])].map(
      (name) => ({
        name,
        confirmedAt: confirmed.has(`${owner} ${name}`) ? 1_000 : null,
        isLabelled: name === "team-a",
        isInUse: name === "team-a" && confirmed.has(`${owner} ${name}`),
      }),
    ),
  confirm: async (owner, name) => void confirmed.add(`${owner} ${name}`),
  withdraw: async (owner, name) => {
    if (!confirmed.delete(`${owner} ${name}`)) throw new NotFound(`${owner} has not confirmed namespace '${name}'`);
  },
};
beforeEach(() => confirmed.clear());

describe("namespaces in a cluster", () => {
  const api = withApi({ adminToken }, { namespaces });
  const confirm = (name: string, key: string = keys.ada, query = ""): Promise<Answer> =>
    api.ask("POST", `/v1/namespaces${query}`, { key, body: { name } });

  test("are listed with the label and the confirmation, confirmed and withdrawn by their owner", async () => {
    const waiting = { name: "team-a", owner: ada.id, confirmed_at: null, labelled: true, in_use: false };
    expect((await api.ask("GET", "/v1/namespaces")).body.data).toEqual([waiting]);
    const inUse = { ...waiting, confirmed_at: 1, in_use: true };
    expect((await confirm("team-a")).body.data).toEqual(inUse);
    expect((await confirm("team-b")).body.data).toMatchObject({ name: "team-b", labelled: false, in_use: false });
    expect((await api.ask("GET", "/v1/namespaces", { key: keys.bob })).body.data).toEqual([{ ...waiting, owner: bob.id }]);
    expect((await api.ask("DELETE", "/v1/namespaces/team-a", { key: keys.bob })).status).toBe(404);
    expect((await api.ask("DELETE", "/v1/namespaces/team-a")).status).toBe(204);
    expect([...confirmed]).toEqual([`${ada.id} team-b`]);
    for (const name of ["Team", "a_b", "-a", "a".repeat(64)]) expect((await confirm(name)).status).toBe(422);
  });

  test("of an organization are confirmed by its admins only", async () => {
    await api.accounts.putMember(bob.id, acme.id, "member");
    expect((await confirm("team-a", keys.bob, `?org_id=${acme.id}`)).status).toBe(403);
    expect((await api.ask("DELETE", `/v1/namespaces/team-a?org_id=${acme.id}`, { key: keys.bob })).status).toBe(403);
    expect((await confirm("team-a", keys.ada, `?org_id=${acme.id}`)).body.data).toMatchObject({ owner: acme.id, in_use: true });
  });

  test("are confirmed and withdrawn by an admin of the installation in the owner's name", async () => {
    const confirmFor = (owner: string, key = adminToken): Promise<Answer> =>
      api.ask("POST", `/admin/v1/owners/${owner}/namespaces`, { key, body: { name: "team-a" } });
    expect((await confirmFor(acme.id, keys.ada)).status).toBe(401);
    expect((await confirmFor(acme.id)).body.data).toMatchObject({ owner: acme.id, in_use: true });
    expect((await api.ask("DELETE", `/admin/v1/owners/${acme.id}/namespaces/team-a`, { key: adminToken })).status).toBe(204);
    expect((await confirmFor("u_unknown0000")).status).toBe(404);
    expect((await confirmFor("somewhere")).status).toBe(404);
    expect([...confirmed]).toEqual([]);
  });
});

describe("namespaces on one machine", () => {
  const api = withApi({}, { namespaces: undefined });

  test("are an empty list, and none can be confirmed", async () => {
    expect((await api.ask("GET", "/v1/namespaces")).body.data).toEqual([]);
    const { status, body } = await api.ask("POST", "/v1/namespaces", { body: { name: "team-a" } });
    expect((await api.ask("DELETE", "/v1/namespaces/team-a")).status).toBe(404);
    expect([status, body.error]).toEqual([422, expect.stringContaining("no namespaces of Kubernetes")]);
  });
});
