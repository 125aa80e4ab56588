import { describe, expect, test } from "vitest";
import { kinds } from "../../../crds/kinds.ts";
import type { SourceResource } from "../../../api/resources/source.ts";
import type { Kind } from "../../../crds/resource.ts";
import { sourceKind } from "../../../crds/source.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { fakeBuild } from "./fake-builds.ts";
import { acme, ada, bob, keys, withApi, type Answer } from "./support.ts";
import { until } from "../../support/until.ts";

/**
 * Requests that meet: each is answered, and what is left is what one after the other would have left. Whichever comes first, so that
 * the assertions hold for each order.
 */
const adminToken = "an-admin-token-of-many-characters-0123456789";
/** Of concurrent requests in each test. */
const rounds = 8;
/** Builds of code that says `held` wait for `released`, and report it. */
const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
const api = withApi(
  { adminToken, deployTimeoutMs: 3_000 },
  {
    builds: {
      build: async ({ code }) => {
        if (code.includes("held")) {
          held.resolve();
          await released.promise;
        }
        return fakeBuild(code);
      },
    },
  },
);

const admin = (method: string, path: string, body?: object): Promise<Answer> =>
  api.ask(method, `/admin/v1${path}`, { key: adminToken, ...(body === undefined ? {} : { body }) });
const atOnce = (count: number, ask: (n: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => ask(n)));
const statusesOf = (answers: readonly Answer[]): number[] => [...new Set(answers.map(({ status }) => status))].toSorted();
const made = async (method: string, path: string, body: object, key: string = keys.ada) => {
  const { status, text, body: answer } = await api.ask(method, path, { key, body });
  expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
  return answer.data;
};
/** Kinds of which the owner has resources that are not on their way out. */
const ownedBy = async (owner: string): Promise<string[]> => {
  const found = await Promise.all(
    kinds.map(async (kind: Kind) => {
      const { items } = await api.store.list(kind, { namespace: namespaceOfOwner(owner) });
      return items.some(({ metadata }) => metadata.deletionTimestamp === undefined) ? [kind.kind] : [];
    }),
  );
  return found.flat();
};

describe("keys", () => {
  test("never exceed 50 with concurrent creations", async () => {
    const answers = await atOnce(60, () => api.ask("POST", "/v1/users/me/keys", { key: keys.bob, body: { name: "at once" } }));
    expect(statusesOf(answers)).toEqual([200, 409]);
    const { body } = await api.ask("GET", "/v1/users/me/keys", { key: keys.bob });
    expect(body.data).toHaveLength(50);
    await atOnce(49, (n) => api.ask("DELETE", `/v1/users/me/keys/${body.data[n].id}`, { key: keys.bob }));
  });
});

describe("an organization", () => {
  test("keeps an admin when its admins remove or demote each other", async () => {
    const key = (await made("POST", "/v1/users/me/keys", { name: "mine" }, keys.bob)).key;
    for (let round = 0; round < rounds; round++) {
      await api.accounts.putMember(ada.id, acme.id, "admin");
      await api.accounts.putMember(bob.id, acme.id, "admin");
      const path = `/v1/orgs/${acme.id}/members`;
      const answers = await Promise.all([
        api.ask("DELETE", `${path}/${bob.id}`),
        api.ask(round % 2 === 0 ? "DELETE" : "PUT", `${path}/${ada.id}`, { key, body: { role: "member" } }),
      ]);
      for (const { status, text } of answers) expect([200, 204, 403, 404, 409], text).toContain(status);
      expect((await api.accounts.listMembers(acme.id)).filter(({ role }) => role === "admin")).toHaveLength(1);
    }
    await api.accounts.putMember(ada.id, acme.id, "admin");
  });
});

describe("a webhook that is deleted", () => {
  test("leaves no subscriptions to it, even if some are created concurrently", async () => {
    const source = await made("POST", "/v1/sources", { component_code: "name: emitter" });
    for (let round = 0; round < rounds; round++) {
      const { id } = await made("POST", "/v1/webhooks", { url: "https://example.com/" });
      const answers = await Promise.all([
        atOnce(6, (n) => api.ask("POST", `/v1/subscriptions?emitter_id=${source.id}&listener_id=${id}&event_name=c${n}`)),
        api.ask("DELETE", `/v1/webhooks/${id}`).then((answer) => [answer]),
        atOnce(2, () => api.ask("POST", `/v1/auto_subscriptions?event_name=%24errors&listener_id=${id}`)),
      ]);
      for (const { status, text } of answers.flat()) expect([200, 204, 404], text).toContain(status);
      const listed = async (list: string) => {
        const { body } = await api.ask("GET", `/v1/users/me/${list}`);
        return body.data.filter(({ listener_id }: { listener_id: string }) => listener_id === id);
      };
      await until(async () => (await listed("subscriptions")).length === 0 && (await listed("auto_subscriptions")).length === 0);
    }
  });

  test("is deleted by one of several concurrent requests, and not found by the others", async () => {
    const { id } = await made("POST", "/v1/accounts", { app: "shop", credentials: {} });
    const answers = await atOnce(8, () => api.ask("DELETE", `/v1/accounts/${id}`));
    expect(statusesOf(answers)).toEqual([204, 404]);
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    for (const { status, body } of answers) if (status === 404) expect(body.error).toMatch(/^record not found/);
  });
});

describe("a source that is not deployed in time", () => {
  /** Asks for one that the operator never gets done with. */
  const stuck = async (body: object) => {
    const before = new Set((await api.store.list(sourceKind, {})).items.map(({ metadata }) => metadata.name));
    const asked = api.ask("POST", "/v1/sources", { body: { name: "stuck", ...body } });
    let made: SourceResource | undefined;
    await until(async () => {
      made = (await api.store.list(sourceKind, {})).items.find(({ metadata }) => !before.has(metadata.name));
      return made !== undefined;
    });
    if (made === undefined) throw new Error("there is no source");
    return { asked, made };
  };

  test("is refused and deleted if its account was deleted in the meantime", async () => {
    const { id } = await made("POST", "/v1/accounts", { app: "shop", credentials: {} });
    const props = { component_code: "name: shopper; props: shop", configured_props: { shop: { authProvisionId: id } } };
    const { asked, made: source } = await stuck(props);
    expect((await api.ask("DELETE", `/v1/accounts/${id}?force=true`)).status).toBe(204);
    const { status, body } = await asked;
    expect([status, body.code]).toEqual([422, "invalid_props"]);
    await until(async () => (await api.store.find(sourceKind, source.metadata.namespace, source.metadata.name)) === undefined);
  });

  test("is kept otherwise, and the response names what it waits for", async () => {
    const { asked, made: source } = await stuck({ component_code: "name: waiter" });
    const { generation } = source.metadata;
    const lastTransitionTime = new Date().toISOString();
    const waits = { type: "Ready", status: "False", reason: "Waits", message: "it waits for a token", lastTransitionTime } as const;
    const conditions = [{ ...waits, observedGeneration: generation }];
    await api.store.updateStatus(sourceKind, { ...source, status: { ...source.status, conditions } });
    const { status, body } = await asked;
    expect([status, body.code, body.error]).toEqual([
      503,
      "not_ready_in_time",
      expect.stringContaining("within 3 s (it waits for a token);"),
    ]);
    expect((await api.ask("GET", `/v1/sources/${body.details.id}`)).status).toBe(200);
  });
});

describe("a user who is deleted", () => {
  const user = async (name: string) => {
    const { data } = (await admin("POST", "/users", { username: name, email: `${name}@example.com` })).body;
    const { key } = (await admin("POST", `/users/${data.id}/keys`, { name: "k" })).body.data;
    return { id: data.id as string, key: key as string };
  };

  test("gets no resources from a request in progress", async () => {
    const { id, key } = await user("leaving");
    const asked = api.ask("POST", "/v1/sources", { key, body: { component_code: "name: held" } });
    await held.promise;
    expect((await admin("DELETE", `/users/${id}`)).status).toBe(204);
    released.resolve();
    const { status, body } = await asked;
    expect([status, body.error]).toEqual([404, `${id} was deleted`]);
    expect(await ownedBy(id)).toEqual([]);
  });

  test("leaves no resources that were created concurrently", async () => {
    for (let round = 0; round < rounds; round++) {
      const { id, key } = await user(`leaving-${round}`);
      const [deleted] = await Promise.all([
        admin("DELETE", `/users/${id}`),
        atOnce(6, (n) => api.ask("POST", "/v1/webhooks", { key, body: { url: `https://example.com/${n}` } })),
      ]);
      expect([204, 409]).toContain(deleted.status);
      expect(await ownedBy(id)).toEqual(deleted.status === 204 ? [] : ["Webhook"]);
    }
  });
});
