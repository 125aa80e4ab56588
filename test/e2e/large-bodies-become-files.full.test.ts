import { createHash } from "node:crypto";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster } from "../support/system/cluster.ts";
import { dataOf, endedRun } from "./support/workflow-steps.ts";

/** Bodies that no message could have, through all processes: each with the rights of its role. */
let directory: TemporaryDirectory;
let cluster: Cluster;
beforeAll(async () => {
  directory = await temporaryDirectory("bodies");
  cluster = await startCluster(directory.path);
});
afterAll(async () => {
  await cluster.stop();
  await directory.remove();
});

interface Deployed {
  readonly id: string;
  readonly triggers: readonly { readonly endpoint_url: string }[];
}
const call = <Data>(method: string, path: string, body?: unknown): Promise<Data> => dataOf(cluster, method, path, body);

const step = (name: string, body: string) => ({
  name,
  component_code: `import fs from "node:fs"; import { pipeline } from "node:stream/promises";
    export default { type: "action", name: "${name}", version: "1.0.0", async run({ steps, $ }) { ${body} } };`,
});

/** Sends so many bytes in blocks. @returns status, and the digest of what was sent */
function upload(url: string, blocks: number): Promise<readonly [status: number | undefined, digest: string]> {
  const digest = createHash("sha256");
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: "POST", headers: { "content-type": "video/mp4" } }, (response) => {
      resolve([response.resume().statusCode, digest.digest("hex")]);
    });
    request.on("error", reject);
    let block = 0;
    const send = (): void => {
      while (block < blocks) {
        const bytes = Buffer.alloc(262_144, block++ % 251);
        digest.update(bytes);
        if (!request.write(bytes)) return void request.once("drain", send);
      }
      request.end();
    };
    send();
  });
}

it("gives a body of 100 MiB to a step, which streams it to /tmp, and passes it on by a URL", async () => {
  const steps = [
    step(
      "save",
      `const { body } = steps.trigger.event;
       const response = await fetch(body.raw_body_url);
       if (!response.ok) throw new Error(response.status + " " + (await response.text()));
       await pipeline(response.body, fs.createWriteStream("/tmp/large.mp4"));
       return [body.size, body.content_type, response.headers.get("content-type"), response.headers.get("content-length")];`,
    ),
    step(
      "pass",
      `let bytes = 0;
       for await (const chunk of fs.createReadStream("/tmp/large.mp4")) bytes += chunk.length;
       const file = await $.files.open("video/copy.mp4").fromFile("/tmp/large.mp4");
       return [bytes, await file.toUrl()];`,
    ),
  ];
  const { id, triggers } = await call<Deployed>("POST", "/workflows", { name: "Bodies", triggers: [{ type: "http" }], steps });
  const endpoint = triggers[0]?.endpoint_url ?? "";
  const [status, digest] = await upload(`${endpoint}?pipedream_upload_body=1`, 400);
  expect(status).toBe(200);
  const run = await endedRun(cluster, id);
  expect(run.status, JSON.stringify(run)).toBe("succeeded");
  expect(run.steps[0]?.return_value).toEqual([104_857_600, "video/mp4", "video/mp4", "104857600"]);
  const [bytes, url] = (run.steps[1]?.return_value ?? []) as [number?, string?];
  expect(bytes).toBe(104_857_600);
  expect(url).not.toContain(new URL(endpoint).pathname);
  const response = await fetch(url ?? "");
  expect([response.status, response.headers.get("content-disposition")]).toEqual([200, "attachment; filename=copy.mp4"]);
  const passed = createHash("sha256");
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) passed.update(chunk);
  expect(passed.digest("hex")).toBe(digest);
  expect((await upload(endpoint, 4))[0]).toBe(413);
});

it("gives the file of a test no URL, and says so", async () => {
  const steps = [step("url", `return await $.files.open("a").toUrl();`)];
  const { id } = await call<Deployed>("POST", "/workflows", { name: "Tested", steps });
  const tested = await call<{ readonly steps: readonly { readonly error: unknown }[] }>("POST", `/workflows/${id}/test`, { event: {} });
  expect(tested.steps[0]?.error).toMatchObject({ message: expect.stringContaining("not in a test") });
});
