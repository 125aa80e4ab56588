import { randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { filesAddress, uploadId } from "../../domain/files/file-url.ts";
import { AdmissionGate, defaultBacklogLimits } from "../../domain/limits/admission.ts";
import { decodePack, type HttpEvent } from "../../domain/invocation/invocation.ts";
import { partitionCount, streams } from "../../domain/subjects.ts";
import { ingressDefaults } from "../../ingress/ports.ts";
import { startIngress, type Ingress } from "../../ingress/start.ts";
import { fileSweeper } from "../../operator/file-sweep.ts";
import { createBoundedServer } from "../../platform/http/bounded-server.ts";
import { RequestBodies } from "../../platform/http/request-bodies.ts";
import { Bucket } from "../../platform/jetstream/buckets/bucket.ts";
import { openEndpointDirectory, type EndpointDirectory } from "../../platform/jetstream/buckets/endpoint-directory.ts";
import { createStoredFiles } from "../../platform/jetstream/files/stored-files.ts";
import { ResumeUrls } from "../../runner/workflow/resume-urls.ts";
import { openRunFiles } from "../../wiring/run-files.ts";
import { storeBytes as storeFile } from "../ingress/signed-file.ts";
import { withJetStream, withPoolRequests } from "./jetstream/support.ts";

/** Bodies as files on a real stream. FILES has 450 MB of the store: above half of it, an owner may have a quarter. */
const storeBytes = 6_000_000_000;
const nats = withJetStream({ partitions: partitionCount, storeBytes }, { maxFileStoreBytes: 2 * storeBytes });
withPoolRequests(nats);

const mebibyte = 2 ** 20;
const publicUrl = "http://ingress.test/hooks";
const workflow = { source: "p_1", pool: "default", owner: "u_1", customResponse: false, active: true };
const resumeKey = "a key of the workflow";
const events: HttpEvent[] = [];
let endpoints: EndpointDirectory;
let ingress: Ingress;

beforeAll(async () => {
  const bucket = new Bucket<unknown>(nats.connection, "ENDPOINTS", (json) => json);
  await bucket.put("workflow1", { ...workflow, workflow: { hasHttpTrigger: true, resumeKey } });
  await bucket.put(filesAddress("p_1"), { ...workflow, active: false, workflow: { hasHttpTrigger: false, resumeKey } });
  await bucket.put("source1", { ...workflow, source: "dc_1", owner: "u_2" });
  endpoints = await openEndpointDirectory(nats.connection);
  ingress = await startIngress(
    { ...ingressDefaults, port: 0, basePath: "/hooks", publicUrl },
    {
      endpoints,
      invocations: { publish: async (_subject, pack) => void events.push(...decodePack(pack).map(({ event }) => event as HttpEvent)) },
      answers: { listen: () => ({ subject: "answer", end: () => undefined }) },
      admission: new AdmissionGate(defaultBacklogLimits),
      overQuota: () => 0,
      newRunId: () => "r_1",
      createServer: createBoundedServer,
      bodies: new RequestBodies(32 * mebibyte),
      files: { ...openRunFiles(nats.connection, "ingress"), newUploadId: () => uploadId(randomBytes(16).toString("hex")) },
      log: { warn: (fields) => process.stderr.write(`${JSON.stringify(fields)}\n`) },
    },
  );
});
afterAll(async () => {
  await ingress.stop(AbortSignal.timeout(1_000));
  await endpoints.stop();
});

const local = (url: string): string => url.replace("http://ingress.test", `http://${ingress.address}`);

/** Sends a body of so many bytes, as fast as it is taken. */
function upload(key: string, bytes: number): Promise<number | undefined> {
  const chunk = Buffer.alloc(65_536, 7);
  return new Promise((resolve, reject) => {
    const options = { method: "POST", headers: { "content-length": bytes, "x-pd-upload-body": "1" } };
    const request = httpRequest(local(`${publicUrl}/${key}`), options, (response) => resolve(response.resume().statusCode));
    request.on("error", reject);
    let sent = 0;
    const send = (): void => {
      while (sent < bytes) {
        const length = Math.min(chunk.length, bytes - sent);
        sent += length;
        if (!request.write(chunk.subarray(0, length))) return void request.once("drain", send);
      }
      request.end();
    };
    send();
  });
}
const lastUrl = (): string => String((events.at(-1)?.body as Record<string, unknown> | undefined)?.["raw_body_url"]);

/** Bytes of the response; each must be that of `upload`. */
async function download(url: string): Promise<number> {
  const response = await fetch(local(url));
  expect(response.status).toBe(200);
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (chunk.some((byte) => byte !== 7)) throw new Error("another byte than was sent");
  }
  return bytes;
}

it("stores and sends 100 MiB without holding them", async () => {
  // What a first transfer allocates for good.
  expect(await upload("workflow1", 8 * mebibyte)).toBe(200);
  expect(lastUrl()).not.toContain("workflow1");
  expect(await download(lastUrl())).toBe(8 * mebibyte);
  const before = process.memoryUsage.rss();
  let peak = before;
  const watching = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
  try {
    expect(await upload("workflow1", 100 * mebibyte)).toBe(200);
    expect(await download(lastUrl())).toBe(100 * mebibyte);
  } finally {
    clearInterval(watching);
  }
  // Client and server are this process, and the collector frees late. What a transfer holds at most is tested in test/ingress/files.test.ts.
  expect((peak - before) / mebibyte).toBeLessThan(100);
  expect(await upload("workflow1", 100 * mebibyte + 1)).toBe(413);
});

it("reads a file of a run by the URL that its step makes, which does not have the address of the endpoint", async () => {
  const run = { owner: "u_1", workflow: "p_1", run: "r_0000000100" };
  const { manifest } = await storeFile(openRunFiles(nats.connection, "default"), run, Buffer.alloc(600_000, 7));
  const urls = new ResumeUrls({ open: async () => resumeKey } as never); // All that it uses.
  const deployment = { workflow: "p_1", owner: "u_1", endpoint: `${publicUrl}/workflow1`, resumeKey: "sealed" };
  const url = `${await urls.filesUrl(deployment, run.run, Date.now() + 60_000)}${manifest}/a%20b.bin`;
  expect(url).not.toContain("workflow1");
  expect(await download(url)).toBe(600_000);
  const other = await urls.filesUrl(deployment, "r_0000000101", Date.now() + 60_000);
  expect((await fetch(local(`${other}${manifest}/a.bin`))).status).toBe(404);
});

it("deletes a stored body a day later, and says so at its URL", async () => {
  expect(await upload("source1", 1_000)).toBe(200);
  const url = lastUrl();
  expect(await download(url)).toBe(1_000);
  let later = 0;
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const sweep = fileSweeper({ files: createStoredFiles(nats.connection), clock: { now: () => Date.now() + later }, log });
  for (const hours of [0, 23.9]) {
    later = hours * 3_600_000;
    await sweep("all", AbortSignal.timeout(60_000));
    expect(await download(url)).toBe(1_000);
  }
  later = 24.1 * 3_600_000;
  await sweep("all", AbortSignal.timeout(60_000));
  const gone = await fetch(local(url));
  expect([gone.status, await gone.json()]).toMatchObject([404, { code: "files_gone" }]);
});

it("answers 507 to an owner whose share is used up, and stores bodies of others", async () => {
  const { config } = await nats.connection.manager.streams.info(streams.files);
  const statuses: (number | undefined)[] = [];
  for (let sent = 0; sent < config.max_bytes && !statuses.includes(507); sent += 20 * mebibyte)
    statuses.push(await upload("source1", 20 * mebibyte));
  expect([statuses[0], statuses.at(-1)]).toEqual([200, 507]);
  expect(await upload("workflow1", 1_000)).toBe(200);
});
