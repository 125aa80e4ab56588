import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startHeadwater, type Headwater } from "./support/headwater.ts";
import { mainOf } from "./support/process-tree.ts";

const greeter = `
export default {
  name: "Greeter",
  version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run({ body }) { this.http.respond({ status: 200, body: "hello " + body.name }); },
};`;

let directory: TemporaryDirectory;
let headwater: Headwater;

beforeAll(async () => {
  directory = await temporaryDirectory("endpoints");
  headwater = await startHeadwater({ dataDirectory: join(directory.path, "data") });
});
afterAll(async () => {
  expect(await headwater.stop()).toBe(0);
  await directory.remove();
});

it("runs a source and answers its caller while the API process is suspended", async () => {
  interface Created {
    readonly data: { readonly configured_props: { readonly http: { readonly endpoint_url: string } } };
  }
  const { body } = await headwater.call<Created>("POST", "/sources", { component_code: greeter });
  const greet = async (name: string): Promise<string> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(body.data.configured_props.http.endpoint_url, { method: "POST", headers, body: JSON.stringify({ name }) });
    return response.text();
  };
  expect(await greet("Ada")).toBe("hello Ada");
  const main = mainOf(headwater.dataDirectory);
  process.kill(main, "SIGSTOP");
  try {
    expect(await greet("Bob")).toBe("hello Bob");
  } finally {
    process.kill(main, "SIGCONT");
  }
});
