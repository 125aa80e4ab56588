import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";

/** As it is started by default: components reach no private address. */
let directory: TemporaryDirectory;
let headwater: Headwater;
beforeAll(async () => {
  directory = await temporaryDirectory("body");
  headwater = await startHeadwater({ dataDirectory: join(directory.path, ".headwater"), env: { HEADWATER_EGRESS_ALLOW: "" } });
});
afterAll(async () => {
  expect(await headwater.stop()).toBe(0);
  await directory.remove();
});

const code = `
  const sizeOf = async (url) => { try { return (await (await fetch(url)).arrayBuffer()).byteLength; } catch (error) { return error.cause?.code; } };
  export default { type: "action", name: "Read", version: "1.0.0", async run({ steps, $ }) {
    const { raw_body_url: url } = steps.trigger.event.body;
    const { port } = new URL(url);
    const others = [url.replace("127.0.0.1", "localhost"), url.replace("127.0.0.1", "127.0.0.2"), url.replace(port, steps.trigger.event.query.api)];
    await $.respond({ status: 200, body: await Promise.all([url, ...others].map(sizeOf)) });
  } };`;

it("is read by its URL, and no other server of the machine can be reached", async () => {
  interface Created {
    readonly data: { readonly triggers: readonly { readonly endpoint_url: string }[] };
  }
  const steps = [{ name: "read", component_code: code }];
  const created = await headwater.call<Created>("POST", "/workflows", { name: "Body", triggers: [{ type: "http" }], steps });
  expect(created.status, created.text).toBe(200);
  const endpoint = created.body?.data.triggers[0]?.endpoint_url ?? "";
  const api = /:(\d+)/.exec(headwater.output())?.[1] ?? "";
  const body = Buffer.alloc(1_000_000, 7);
  const response = await fetch(`${endpoint}?pipedream_upload_body=1&api=${api}`, { method: "POST", body });
  expect(await response.json()).toEqual([1_000_000, "egress_denied", "egress_denied", "egress_denied"]);
});
