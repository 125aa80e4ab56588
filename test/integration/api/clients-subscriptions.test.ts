import { beforeAll, describe, expect, test } from "vitest";
import { acme, ada, bob, withApi } from "./support.ts";

/** Subscriptions to a user id, as programs written for the known service create them. */
const api = withApi();
let [hook, organizationHook] = ["", ""];

beforeAll(async () => {
  const create = async (query: string): Promise<string> =>
    (await api.ask("POST", `/v1/webhooks?url=https://all.test${query}`)).body.data.id;
  [hook, organizationHook] = [await create(""), await create(`&org_id=${acme.id}`)];
});

const subscribe = (emitter: string, listener: string, rest = "") =>
  api.ask("POST", `/v1/subscriptions?emitter_id=${emitter}&listener_id=${listener}${rest}`);

describe("a subscription to a user", () => {
  test.each(["", "$errors", "$logs"])("is created, listed and deleted with event_name '%s'", async (channel) => {
    const { status, body } = await subscribe(ada.id, hook, `&event_name=${channel}`);
    expect([status, body.data]).toMatchObject([200, { emitter_id: ada.id, listener_id: hook, event_name: channel }]);
    expect((await api.ask("GET", "/v1/subscriptions")).body.data).toEqual([body.data]);
    const query = `emitter_id=${ada.id}&listener_id=${hook}&event_name=${channel}`;
    expect((await api.ask("DELETE", `/v1/subscriptions?${query}`)).status).toBe(200);
  });

  test("is refused for other channels", async () => {
    expect((await subscribe(ada.id, hook, "&event_name=news")).body.error).toContain("it must be $errors or $logs");
    expect((await subscribe(acme.id, hook, "&event_name=$logs")).body.error).toContain("it must be $errors");
  });

  test("is refused for another user", async () => {
    for (const id of [bob.id, "u_unknown"]) expect((await subscribe(id, hook, "&event_name=$errors")).status).toBe(404);
  });

  test("is refused with org_id: an organization can subscribe to its own emitters only", async () => {
    expect((await subscribe(ada.id, organizationHook, `&event_name=$errors&org_id=${acme.id}`)).status).toBe(403);
  });
});
