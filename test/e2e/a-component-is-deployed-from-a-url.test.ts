import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { until } from "../support/until.ts";

/** Serves a repository of components from this process; the test allows the loopback network for it. */
const files: Record<string, string> = {
  "components/acme/sources/new-item/new-item.mjs": `
    import common from "../common/base.mjs";
    import { label } from "./label";
    export default { ...common, key: "acme-new-item", name: label("New Item"), version: "0.0.1", props: { ...common.props, http: "$.interface.http" } };`,
  "components/acme/sources/new-item/label.ts": "export const label = (text: string): string => text;",
  "components/acme/sources/common/base.mjs": `
    import acme from "../../acme.app.mjs";
    export default {
      props: { db: "$.service.db" },
      methods: {
        emit(event) {
          const id = (this.db.get("id") ?? 0) + 1;
          this.db.set("id", id);
          this.$emit({ id, ...acme.methods.read(event) }, { id, summary: "item " + id });
        },
      },
      async run(event) {
        this.emit(event);
      },
    };`,
  "components/acme/acme.app.mjs": `
export default {
  methods: {
    read({ body }) {
      if (body.item === undefined) throw new TypeError("no item in it");
      return { item: body.item };
    },
  },
};`,
};
const entry = "components/acme/sources/new-item/new-item.mjs";

interface Source {
  readonly data: {
    readonly id: string;
    readonly component_id: string;
    readonly configured_props: { readonly http: { readonly endpoint_url: string } };
  };
  readonly error: string;
}

const headwater = withSystem();
let server: Server;
let repository: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const text = files[(request.url ?? "").slice(1).split("?")[0] ?? ""];
    response.writeHead(text === undefined ? 404 : 200).end(text);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  repository = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
});

const post = (url: string, body: unknown) =>
  fetch(url, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });

describe("a component in a repository", () => {
  let source: Source["data"];

  it("is deployed from its URL alone, and runs", async () => {
    const created = await headwater.call<Source>("POST", "/sources", { component_url: `${repository}/${entry}` });
    expect(created.status, created.body.error).toBe(200);
    source = created.body.data;
    expect((await post(source.configured_props.http.endpoint_url, { item: "first" })).status).toBe(200);
    const events = async () =>
      (await headwater.call<{ data: readonly { event: unknown }[] }>("GET", `/sources/${source.id}/event_summaries?expand=event`)).body
        .data;
    await until(async () => (await events()).length === 1, "the event is stored");
    expect((await events())[0]?.event).toEqual({ id: 1, item: "first" });
    const component = await headwater.call<{ data: Record<string, unknown> }>("GET", `/components/${source.component_id}`);
    expect(component.body.data).toMatchObject({
      code: files[entry],
      entry: "sources/new-item/new-item.mjs",
      files: ["acme.app.mjs", "sources/common/base.mjs", "sources/new-item/label.ts"],
    });
  });

  it("has its own file names in the stack of an error", async () => {
    await post(source.configured_props.http.endpoint_url, {});
    const failed = async () =>
      (
        await headwater.call<{ data: readonly { error?: { message: string; stack?: string } }[] }>("GET", `/sources/${source.id}/runs`)
      ).body.data.find(({ error }) => (error ?? null) !== null)?.error;
    await until(async () => (await failed()) !== undefined, "the failed run is listed");
    expect((await failed())?.message).toBe("no item in it");
    expect((await failed())?.stack).toMatch(
      /acme\.app\.mjs:5:\d+[\s\S]*sources\/common\/base\.mjs:9:\d+[\s\S]*sources\/common\/base\.mjs:13:\d+/,
    );
  });

  it("replaces a source's code by URL with the file's current content", async () => {
    files["components/acme/acme.app.mjs"] = "export default { methods: { read: ({ body }) => ({ changed: body.item }) } };";
    const changed = await headwater.call<Source>("PUT", `/sources/${source.id}`, { component_url: `${repository}/${entry}` });
    expect([changed.status, changed.body.data.component_id === source.component_id]).toEqual([200, false]);
    await post(source.configured_props.http.endpoint_url, { item: "second" });
    const texts = async () => JSON.stringify((await headwater.call("GET", `/sources/${source.id}/event_summaries?expand=event`)).body);
    await until(async () => (await texts()).includes('"changed":"second"'), "the new code ran");
    // Two earlier runs have counted; one of them failed.
    expect(await texts()).toContain('"id":3');
  });

  it("reports a missing file and an unreachable address", async () => {
    delete files["components/acme/sources/new-item/label.ts"];
    const missing = await headwater.call<Source>("POST", "/components", { component_url: `${repository}/${entry}?token=secret` });
    expect([missing.status, missing.body.error]).toEqual([
      422,
      expect.stringContaining(`${repository}/${entry} imports "./label", but no file was found`),
    ]);
    expect(missing.body.error).not.toContain("secret");
    const denied = await headwater.call<Source>("POST", "/components", { component_url: "http://169.254.169.254/latest/meta-data" });
    expect([denied.status, denied.body.error]).toEqual([403, expect.stringContaining("egress to 169.254.169.254 is denied")]);
  });
});
