import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { Unavailable } from "../../domain/errors.ts";
import type { FileGrant } from "../../domain/files/file-url.ts";
import { waitUntil } from "../../domain/retry.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import type { IngressConfig } from "../../ingress/ports.ts";
import { memoryRunFiles, type MemoryRunFiles } from "../support/memory-run-files.ts";
import { eventOf, rawClient, withIngress, type ServedIngress } from "./served-ingress.ts";
import { filePath, storeBytes } from "./signed-file.ts";

const resumeKey = "a key of the workflow";
const workflow = (changes: Partial<Endpoint> = {}): Endpoint => ({
  source: "p_1",
  pool: "default",
  owner: "u_1",
  customResponse: false,
  active: true,
  workflow: { hasHttpTrigger: true, resumeKey },
  ...changes,
});
const endpoints = new Map<string, Endpoint>([
  ["plain", workflow()],
  ["p_1", workflow({ active: false, workflow: { hasHttpTrigger: false, resumeKey } })],
  ["samekey", workflow({ source: "p_2" })],
  ["newowner", workflow({ owner: "u_2" })],
  ["source", { source: "dc_1", pool: "default", owner: "u_1", customResponse: false, active: true }],
]);
const directory = { peek: (key: string) => endpoints.get(key) ?? null, find: async (key: string) => endpoints.get(key) };

const run = { owner: "u_1", workflow: "p_1", run: "r_abc" };
const grant: FileGrant = { owner: "u_1", source: "p_1", run: "r_abc", expires: Date.now() + 3_600_000 };
const start = withIngress();
let files: MemoryRunFiles;
let served: ServedIngress;

async function serve(config: Partial<IngressConfig> = {}, read?: MemoryRunFiles["read"]): Promise<ServedIngress> {
  const ports = { endpoints: directory, files: { ...files, ...(read && { read }), newUploadId: () => "up_1" } };
  served = await start(config, ports);
  return served;
}
beforeEach(async () => {
  files = memoryRunFiles();
  await serve();
});
const pathOf = async (bytes: Uint8Array, name?: string): Promise<string> =>
  filePath(grant, resumeKey, (await storeBytes(files, run, bytes)).manifest, name);
const codeOf = async (path: string, init?: RequestInit): Promise<readonly [number, unknown]> => {
  const response = await fetch(served.url(path), init);
  return [response.status, ((await response.json()) as { code: unknown }).code];
};

describe("the URL of a file", () => {
  it.each([0, 1, 524_287, 524_288, 524_289, 3 * 524_288 + 7])("is answered with its %i bytes", async (length) => {
    const bytes = randomBytes(length);
    const response = await fetch(served.url(`/p_1${await pathOf(bytes)}`));
    expect([response.status, response.headers.get("content-length")]).toEqual([200, String(length)]);
    expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), bytes)).toBe(0);
    expect(served.stored).toEqual([]);
  });

  it("has headers with which a browser saves it, and neither shows nor runs it", async () => {
    const { headers } = await fetch(served.url(`/p_1${await pathOf(Buffer.from("<script>"), "a/b.html")}`));
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-disposition": "attachment; filename=b.html",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "private",
    });
  });

  it.each([
    ["a\r\nset-cookie: x=1.pdf", "application/pdf"],
    ['quo"te.json', "application/json; charset=utf-8"],
    ["日本.png", "image/png"],
    ["..x", "application/octet-stream"],
    ["/", "application/octet-stream"],
    ["x".repeat(900), "application/octet-stream"],
    [`${"😀".repeat(99)}a.pdf`, "application/pdf"],
  ])("takes any name: %j", async (name, type) => {
    const { status, headers } = await fetch(served.url(`/p_1${await pathOf(Buffer.from("x"), name)}`));
    expect([status, headers.get("content-type"), headers.get("set-cookie")]).toEqual([200, type, null]);
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename/);
  });

  it("works at the workflow's own address, and at that of its endpoint", async () => {
    const path = await pathOf(Buffer.from("x"));
    for (const key of ["p_1", "plain"]) expect((await fetch(served.url(`/${key}${path}`))).status).toBe(200);
    expect((await codeOf("/p_1/other"))[0]).toBe(404);
  });

  it("is answered by HEAD without the bytes", async () => {
    const response = await fetch(served.url(`/p_1${await pathOf(randomBytes(600_000))}`), { method: "HEAD" });
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([200, "600000", ""]);
    expect(files.calls.filter((call) => call === "read")).toEqual(["read"]);
  });

  it.each(["POST", "PUT", "DELETE", "PATCH"])("is answered 405 for %s, and starts no run", async (method) => {
    const response = await fetch(served.url(`/plain${await pathOf(Buffer.from("x"))}`), { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(served.stored).toEqual([]);
  });

  it.each([
    ["another key", (manifest: string) => filePath(grant, "guessed", manifest)],
    ["another run", (manifest: string) => filePath(grant, resumeKey, manifest).replace("r_abc", "r_abd")],
    [
      "a later expiry",
      (manifest: string) => filePath(grant, resumeKey, manifest).replace(String(grant.expires), String(grant.expires + 1)),
    ],
    ["another owner", (manifest: string) => filePath({ ...grant, owner: "u_2" }, resumeKey, manifest)],
    ["another workflow", (manifest: string) => filePath({ ...grant, source: "p_2" }, resumeKey, manifest)],
  ])("is answered 403 if it is forged: %s", async (_change, forged) => {
    const { manifest } = await storeBytes(files, run, Buffer.from("x"));
    expect(await codeOf(`/p_1${forged(manifest)}`)).toEqual([403, "file_url_invalid"]);
    expect(files.calls).not.toContain("read");
  });

  it("is answered 403 if it has expired", async () => {
    const { manifest } = await storeBytes(files, run, Buffer.from("x"));
    const expires = Date.now() - 1;
    expect(await codeOf(`/p_1${filePath({ ...grant, expires }, resumeKey, manifest)}`)).toEqual([403, "file_url_expired"]);
  });

  it("is answered 403 at another workflow with the same key, and after the workflow has another owner", async () => {
    const path = await pathOf(Buffer.from("x"));
    for (const key of ["samekey", "newowner"]) expect(await codeOf(`/${key}${path}`)).toEqual([403, "file_url_invalid"]);
  });

  it("does not open the files of another run or owner, whatever its manifest names", async () => {
    for (const other of [
      { ...run, run: "r_other" },
      { ...run, owner: "u_2" },
    ]) {
      const { manifest, parts } = await storeBytes(files, other, Buffer.from("secret"));
      expect(await codeOf(`/p_1${filePath(grant, resumeKey, manifest)}`)).toEqual([404, "files_gone"]);
      const forged = await files.write(run, Buffer.from(JSON.stringify(parts)));
      expect(await codeOf(`/p_1${filePath(grant, resumeKey, forged)}`)).toEqual([404, "files_gone"]);
    }
  });

  it.each(["no JSON", "{}", '["files.u_2.p_1.r_1.x-1"]', '["00000000000000000000000000000000-0"]'])(
    "is answered 403 if its manifest is none: %s",
    async (text) => {
      const manifest = await files.write(run, Buffer.from(text));
      expect(await codeOf(`/p_1${filePath(grant, resumeKey, manifest)}`)).toEqual([403, "file_url_invalid"]);
    },
  );

  it("is answered 404 when the file was deleted, and 500 after another failure, without the id of the run", async () => {
    const hex = "0".repeat(32);
    const response = await fetch(served.url(`/p_1${filePath(grant, resumeKey, `${hex}-2`)}`));
    const text = await response.text();
    expect([response.status, JSON.parse(text)]).toMatchObject([404, { code: "files_gone" }]);
    expect(text).not.toContain("r_abc");
    const path = await pathOf(Buffer.from("x"));
    await serve({}, () => Promise.reject(new Error("r_abc cannot be read")));
    const failed = await fetch(served.url(`/p_1${path}`));
    expect([failed.status, await failed.json()]).toEqual([500, { code: "internal", error: "the request could not be accepted" }]);
  });

  it("ends the connection if a part is gone in the middle", async () => {
    const { parts } = await storeBytes(files, run, randomBytes(524_288));
    const missing = `${"0".repeat(32)}-5`;
    const manifest = await files.write(run, Buffer.from(JSON.stringify([...parts, missing])));
    const response = await fetch(served.url(`/p_1${filePath(grant, resumeKey, manifest)}`));
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  it("is retried while the store restarts", async () => {
    const path = await pathOf(Buffer.from("x"));
    files.failures.push({ on: "read", error: new Unavailable("restarting") });
    expect((await fetch(served.url(`/p_1${path}`))).status).toBe(200);
  });
});

describe("files that are read slowly", () => {
  const hold = async (path: string) => {
    const client = await rawClient(served.port, `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
    client.socket.pause();
    return client;
  };

  it("take two parts of memory each, and are 503 beyond their number", async () => {
    let reads = 0;
    const path = `/p_1${await pathOf(randomBytes(64 * 524_288))}`;
    await serve({ transfersOfOwner: 2 }, (of, part) => {
      reads++;
      return files.read(of, part);
    });
    const clients = [await hold(path), await hold(path)];
    // Until the buffers of the sockets are full.
    let [before, still] = [-1, 0];
    await waitUntil(() => {
      still = reads === before ? still + 1 : 0;
      before = reads;
      return reads > 4 && still > 10;
    }, 60_000);
    expect(reads).toBeLessThan(2 * 40);
    const refused = await fetch(served.url(path));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
    for (const { socket } of clients) socket.destroy();
    expect(await waitUntil(async () => (await fetch(served.url(path), { method: "HEAD" })).status === 200, 60_000)).toBe(true);
  });

  it("end after the time that their bytes may take", async () => {
    const path = `/p_1${await pathOf(randomBytes(64 * 524_288))}`;
    await serve({ requestTimeoutMs: 300, minTransferRate: 1e9, transfersOfOwner: 1 });
    const { socket, isClosed } = await hold(path);
    expect(await waitUntil(async () => (await fetch(served.url(path), { method: "HEAD" })).status === 503, 60_000)).toBe(true);
    expect(await waitUntil(async () => (await fetch(served.url(path), { method: "HEAD" })).status === 200, 60_000)).toBe(true);
    socket.resume();
    expect(await waitUntil(isClosed, 120_000)).toBe(true);
  });
});

describe("the URL of a file at the endpoint of a source", () => {
  it("is signed with the secret part of its address", async () => {
    const of = { ...run, workflow: "dc_1", run: "up_1" };
    const { manifest } = await storeBytes(files, of, Buffer.from("x"));
    const path = filePath({ ...grant, source: "dc_1", run: "up_1" }, "source", manifest);
    expect((await fetch(served.url(`/source${path}`))).status).toBe(200);
    expect(await codeOf(`/plain${path}`)).toEqual([403, "file_url_invalid"]);
  });
});

it("is at the address of a source, and at that of the files of a workflow, if it is the body of a request", async () => {
  for (const key of ["source", "plain"]) {
    expect((await fetch(served.url(`/${key}?pipedream_upload_body=1`), { method: "POST", body: key })).status).toBe(200);
    const { raw_body_url: url } = eventOf(served.stored.at(-1)).body as { raw_body_url: string };
    const path = new URL(url).pathname;
    expect(path.split("/")[1]).toBe(key === "plain" ? "p_1" : key);
    expect(await (await fetch(served.url(path))).text()).toBe(key);
  }
});
