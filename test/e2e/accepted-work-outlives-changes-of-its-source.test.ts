import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { until } from "../support/until.ts";

/**
 * Sources that are paused, updated or deleted while they have work in their queue. Method: a run waits for the gate, a server that responds
 * when the test opens it. What is accepted in the meantime is certainly queued.
 */
interface Source {
  readonly id: string;
  readonly active: boolean;
  readonly backlog: number | null;
  readonly configured_props: { readonly http: { readonly endpoint_url: string } };
}
interface Errors {
  readonly original_event: { readonly body?: unknown } | null;
  readonly error: { readonly code: string };
}

const headwater = withSystem();
let server: Server;
let address: string;
let isOpen = false;
const atGate: ServerResponse[] = [];
const received: Errors[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.method === "GET") return isOpen ? void response.end() : void atGate.push(response);
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      received.push(JSON.parse(text) as Errors); // Only error events are posted here.
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // It listens on a port.
});
afterEach(() => {
  open();
  isOpen = false;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
});

function open(): void {
  isOpen = true;
  for (const response of atGate.splice(0)) response.end();
}

/** Runs wait for the gate and emit the body with this version. */
const code = (version: string, { respond = false, activate = "" } = {}) => `export default {
  name: "Gated",
  version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: ${respond} } },
  hooks: { async activate() { ${activate} } },
  async run(event) {
    ${version === "refused" ? "" : `await fetch("${address}");`}
    this.$emit({ version: "${version}", n: event.body?.n ?? event.n });
    ${respond ? "this.http.respond({ status: 200 });" : ""}
  },
};`;

const call = <T>(method: string, path: string, body?: object) => headwater.call<{ data: T }>(method, path, body);
const deploy = async (text: string): Promise<Source> => (await call<Source>("POST", "/sources", { component_code: text })).body.data;
const backlogOf = async (id: string) => (await call<Source>("GET", `/sources/${id}`)).body.data.backlog;
const post = (source: Source, n: number) =>
  fetch(source.configured_props.http.endpoint_url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ n }),
  });
const setActive = async (id: string, active: boolean): Promise<void> =>
  expect((await call<Source>("PUT", `/sources/${id}`, { active })).body.data.active).toBe(active);

/** Posts `count` requests, once the run of the first waits at the gate. */
async function queue(source: Source, count: number): Promise<void> {
  for (let n = 1; n <= count; n++) {
    expect((await post(source, n)).status).toBe(200);
    if (n === 1) await until(() => atGate.length > 0, "the first run waits at the gate");
  }
}

async function emitted(id: string): Promise<readonly unknown[]> {
  const { body } = await call<readonly { readonly event: unknown }[]>("GET", `/sources/${id}/event_summaries?limit=50`);
  return body.data.map(({ event }) => event).toReversed();
}

describe("a source that is paused", () => {
  it("keeps requests, and runs them in order once it is active again", async () => {
    const source = await deploy(code("a"));
    await queue(source, 5);
    await setActive(source.id, false);
    open();
    await until(async () => (await backlogOf(source.id)) === 4, "only the run that had started ends");
    expect(await emitted(source.id)).toHaveLength(1);
    await setActive(source.id, true);
    await until(async () => (await emitted(source.id)).length === 5, "the others run");
    expect(await emitted(source.id)).toEqual([1, 2, 3, 4, 5].map((n) => ({ version: "a", n })));
  });

  it("keeps events of a source that it listens to, also those that are emitted in the meantime", async () => {
    const [emitter, listener] = [await deploy(code("emitter")), await deploy(code("listener"))];
    await call("POST", `/subscriptions?emitter_id=${emitter.id}&listener_id=${listener.id}`);
    await setActive(listener.id, false);
    open();
    for (const n of [1, 2]) expect((await post(emitter, n)).status).toBe(200);
    await until(async () => (await backlogOf(listener.id)) === 2, "both events are queued");
    await setActive(listener.id, true);
    await until(async () => (await emitted(listener.id)).length === 2, "both events run");
    expect(await emitted(listener.id)).toEqual([1, 2].map((n) => ({ version: "listener", n })));
  });

  it("answers callers that wait at once: 503 at its endpoint, 409 for a run", async () => {
    const source = await deploy(code("a", { respond: true }));
    const first = post(source, 1);
    await until(() => atGate.length > 0, "the first run waits at the gate");
    const second = post(source, 2);
    const run = call("POST", `/sources/${source.id}/runs`, { event: { n: 3 } });
    await until(async () => (await backlogOf(source.id)) === 3, "all are accepted");
    await setActive(source.id, false);
    open();
    expect((await first).status).toBe(200);
    expect([(await second).status, await (await second).json()]).toEqual([503, { code: "endpoint_paused", error: expect.any(String) }]);
    expect([(await run).status, (await run).body]).toMatchObject([409, { code: "source_inactive" }]);
    await until(async () => (await emitted(source.id)).length > 0, "the event of the first is stored");
    expect(await emitted(source.id)).toHaveLength(1);
  });
});

describe("a source that throws", () => {
  it("leaves the whole event of the largest request, which runs again as it was", async () => {
    const source = await deploy(`export default {
      name: "Throws", version: "0.0.1", props: { http: "$.interface.http" },
      run(event) { if (event.again) this.$emit({ n: event.body.text.length }); else throw new Error("no"); },
    };`);
    const body = JSON.stringify({ text: '"'.repeat(250_000) }); // Half a megabyte, and twice as much in JSON.
    const headers = { "content-type": "application/json" };
    expect((await fetch(source.configured_props.http.endpoint_url, { method: "POST", headers, body })).status).toBe(200);
    interface Failed {
      readonly event: { readonly original_event: { readonly body: unknown; readonly bodyRaw: string } };
    }
    const failed = async () =>
      (await call<readonly Failed[]>("GET", `/sources/${source.id}/event_summaries?event_name=%24errors&expand=event`)).body.data;
    await until(async () => (await failed()).length === 1, "the error is listed");
    const original = (await failed())[0]?.event.original_event;
    expect([original?.body, original?.bodyRaw]).toEqual([JSON.parse(body), body]);
    const again = await call<{ status: string }>("POST", `/sources/${source.id}/runs`, { event: { ...original, again: true } });
    expect([again.status, again.body.data?.status]).toEqual([200, "succeeded"]);
    expect(await emitted(source.id)).toEqual([{ n: 250_000 }]);
    // Lists of runs do not have the event.
    const { text } = await call("GET", `/sources/${source.id}/runs`);
    expect(text.length).toBeLessThan(10_000);
  });
});

describe("a source that is deleted", () => {
  it("ends what it has accepted with an error event that has the original event, and answers callers at once", async () => {
    const { id: me } = (await call<{ id: string }>("GET", "/users/me")).body.data;
    const { id: webhook } = (await call<{ id: string }>("POST", `/webhooks?url=${address}`)).body.data;
    await call("POST", `/subscriptions?emitter_id=${me}&listener_id=${webhook}&event_name=%24errors`);
    const source = await deploy(code("a"));
    await queue(source, 3);
    const run = call("POST", `/sources/${source.id}/runs`, { event: { body: { n: 4 } } });
    await until(async () => (await backlogOf(source.id)) === 4, "all are accepted");
    const deleted = call("DELETE", `/sources/${source.id}`);
    await until(async () => (await fetch(source.configured_props.http.endpoint_url)).status === 404, "its endpoint has ended");
    // The runner hears of changes in order: once it runs a source that is deployed later, it knows of the deletion.
    const later = await deploy(code("refused"));
    expect((await call("POST", `/sources/${later.id}/runs`, { event: { n: 0 } })).status).toBe(200);
    open();
    expect((await deleted).status).toBe(204);
    const errors = () => received.filter(({ original_event }) => original_event?.body !== undefined); // Not of the requests above.
    await until(() => errors().length === 3, "the errors are delivered");
    expect(errors().map(({ original_event, error }) => [original_event?.body, error.code])).toEqual(
      [2, 3, 4].map((n) => [{ n }, "source_deleted"]),
    );
    expect([(await run).status, (await run).body]).toMatchObject([200, { data: { status: "failed", error: { code: "source_deleted" } } }]);
  });
});

describe("an update that is refused because activate throws", () => {
  it("handles no request that was queued before: the version that is restored does", async () => {
    const source = await deploy(code("old"));
    await queue(source, 5);
    const refused = call("PUT", `/sources/${source.id}`, { component_code: code("refused", { activate: 'throw new Error("no");' }) });
    // The run of the old version ends only now, so that the hook runs before the queued requests.
    await until(async () => (await backlogOf(source.id)) === 6, "the hook is requested");
    open();
    expect((await refused).status).toBe(422);
    await until(async () => (await emitted(source.id)).length === 5, "all requests are handled");
    expect(await emitted(source.id)).toEqual([1, 2, 3, 4, 5].map((n) => ({ version: "old", n })));
  });
});
