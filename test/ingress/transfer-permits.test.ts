import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Unavailable } from "../../domain/errors.ts";
import { waitUntil } from "../../domain/retry.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import type { IngressConfig } from "../../ingress/ports.ts";
import { memoryRunFiles, type MemoryRunFiles } from "../support/memory-run-files.ts";
import { rawClient, withIngress, type ServedIngress } from "./served-ingress.ts";
import { filePath, storeBytes, type StoredBytes } from "./signed-file.ts";

/** What holds a permit of an owner's transfers, and how long. */
const key = "source";
const endpoint: Endpoint = { source: "dc_1", pool: "default", owner: "u_1", customResponse: false, active: true };
const endpointOf = (name: string): Endpoint => ({ ...endpoint, customResponse: name === "custom" });
const endpoints = { peek: endpointOf, find: async (name: string) => endpointOf(name) };
const run = { owner: "u_1", workflow: "dc_1", run: "up_1" };
const grant = { owner: "u_1", source: "dc_1", run: "up_1", expires: Date.now() + 3_600_000 };
const pathOf = ({ manifest }: Pick<StoredBytes, "manifest">): string => `/${key}${filePath(grant, key, manifest)}`;
const uploading = `/${key}?pipedream_upload_body=1`;
const beginning = (length: number): string => `POST ${uploading} HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n\r\n`;
const start = withIngress();
let files: MemoryRunFiles;
/** Reads and writes that the gate holds back wait for it. */
let gate: PromiseWithResolvers<void>;

const serve = (config: Partial<IngressConfig>, calls: Partial<Pick<MemoryRunFiles, "read" | "write">> = {}): Promise<ServedIngress> =>
  start(config, { endpoints, files: { ...files, ...calls, newUploadId: () => "up_2" } });

beforeEach(() => {
  files = memoryRunFiles();
  gate = Promise.withResolvers();
});
afterEach(() => gate.resolve());
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("a download", () => {
  it("has a permit of the owner only when its manifest was found; before, its client's network is bounded", async () => {
    const small = pathOf(await storeBytes(files, run, Buffer.from("x")));
    const missing = `${"0".repeat(32)}-5`;
    let waiting = 0;
    const served = await serve(
      { transfersOfOwner: 1, lookupsOfNetwork: 3 },
      {
        read: async (of, part) => {
          if (part === missing) {
            waiting++;
            await gate.promise;
          }
          return files.read(of, part);
        },
      },
    );
    const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
    const looking = await Promise.all([1, 2, 3].map(() => rawClient(served.port, get(pathOf({ manifest: missing })))));
    expect(await waitUntil(() => waiting === 3, 60_000)).toBe(true);
    expect((await fetch(served.url(small))).status).toBe(503);
    const other = await rawClient(served.port, get(small), "127.0.0.2");
    expect(await waitUntil(() => other.received().includes("HTTP/1.1 200 "), 60_000)).toBe(true);
    gate.resolve();
    expect(await waitUntil(() => looking.every(({ received }) => received().includes("HTTP/1.1 404 ")), 60_000)).toBe(true);
    expect((await fetch(served.url(small))).status).toBe(200);
    for (const { socket } of [...looking, other]) socket.destroy();
  });

  it("keeps its permit until the part that is being read has arrived", async () => {
    const stored = await storeBytes(files, run, randomBytes(3 * 524_288));
    let isReading = false;
    const served = await serve(
      { transfersOfOwner: 1 },
      {
        read: async (of, part) => {
          if (part === stored.parts[1]) {
            isReading = true;
            await gate.promise;
          }
          return files.read(of, part);
        },
      },
    );
    // Nothing of the file is sent while the answer before it is awaited.
    const requests = ["/custom", pathOf(stored)].map((path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
    const client = await rawClient(served.port, requests.join(""));
    expect(await waitUntil(() => isReading, 60_000)).toBe(true);
    client.socket.destroy();
    await pause(300);
    const head = async (): Promise<number> => (await fetch(served.url(pathOf(stored)), { method: "HEAD" })).status;
    expect(await head()).toBe(503);
    gate.resolve();
    expect(await waitUntil(async () => (await head()) === 200, 60_000)).toBe(true);
  });
});

describe("an upload", () => {
  const post = async (served: ServedIngress): Promise<number> => (await fetch(served.url(uploading), { method: "POST", body: "x" })).status;

  it("has no permit before its first bytes arrive", async () => {
    const served = await serve({ transfersOfOwner: 1 });
    const silent = await Promise.all([1, 2].map(() => rawClient(served.port, beginning(1_000_000))));
    await pause(300);
    expect(await post(served)).toBe(200);
    for (const { socket } of silent) socket.destroy();
  });

  it("keeps its permit until the part that is being written is stored", async () => {
    let isWriting = false;
    const served = await serve(
      { transfersOfOwner: 1 },
      {
        write: async (of, bytes) => {
          isWriting = true;
          await gate.promise;
          return files.write(of, bytes);
        },
      },
    );
    const client = await rawClient(served.port, beginning(1_000_000));
    client.socket.write(randomBytes(600_000));
    expect(await waitUntil(() => isWriting, 60_000)).toBe(true);
    client.socket.destroy();
    await pause(300);
    expect(await post(served)).toBe(503);
    gate.resolve();
    expect(await waitUntil(async () => (await post(served)) === 200, 60_000)).toBe(true);
  });

  it("repeats no write when its client has left", async () => {
    let writes = 0;
    const served = await serve(
      {},
      {
        write: () => {
          writes++;
          return Promise.reject(new Unavailable("restarting"));
        },
      },
    );
    const client = await rawClient(served.port, beginning(1_000_000));
    client.socket.write(randomBytes(600_000));
    expect(await waitUntil(() => writes === 1, 60_000)).toBe(true);
    client.socket.destroy();
    await pause(2_000);
    expect(writes).toBeLessThanOrEqual(2);
  });

  it("may be stored slowly: only the time in which its client sends nothing counts", async () => {
    const served = await serve(
      { requestTimeoutMs: 3_000, minTransferRate: 1e9 },
      {
        write: async (of, bytes) => {
          await pause(1_500);
          return files.write(of, bytes);
        },
      },
    );
    // Four of its parts are awaited before it has arrived: twice its time.
    const body = randomBytes(5 * 524_288);
    const response = await fetch(served.url(uploading), { method: "POST", body });
    expect([response.status, served.stored.length]).toEqual([200, 1]);
  });
});
