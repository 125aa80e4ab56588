import { randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { beforeEach, describe, expect, it } from "vitest";
import { QuotaExceeded } from "../../domain/errors.ts";
import { AdmissionGate, defaultBacklogLimits } from "../../domain/limits/admission.ts";
import { waitUntil } from "../../domain/retry.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import type { IngressConfig, IngressPorts } from "../../ingress/ports.ts";
import { memoryRunFiles, type MemoryRunFiles } from "../support/memory-run-files.ts";
import { eventOf, rawClient, withIngress, type ServedIngress } from "./served-ingress.ts";

const endpoint: Endpoint = { source: "dc_1", pool: "default", owner: "u_1", customResponse: false, active: true };
const endpoints = new Map<string, Endpoint>([
  ["source", endpoint],
  ["custom", { ...endpoint, customResponse: true }],
  ["off", { ...endpoint, active: false }],
  ["other", { ...endpoint, source: "dc_2", owner: "u_2" }],
]);
const limit = 3 * 524_288 + 100;
const publicUrl = "https://hooks.example.com";
const start = withIngress();
let files: MemoryRunFiles;
let served: ServedIngress;

async function serve(config: Partial<IngressConfig> = {}, ports: Partial<IngressPorts> = {}): Promise<ServedIngress> {
  let uploads = 0;
  const directory = { peek: (key: string) => endpoints.get(key) ?? null, find: async (key: string) => endpoints.get(key) };
  served = await start(
    { uploadLimitBytes: limit, publicUrl, ...config },
    { endpoints: directory, files: { ...files, newUploadId: () => `up_${uploads++}` }, ...ports },
  );
  return served;
}
beforeEach(async () => {
  files = memoryRunFiles();
  await serve();
});
const query = "?pipedream_upload_body=1";
const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(served.url(path), { method: "POST", body, headers });
const outcomeOf = async (response: Response): Promise<readonly [number, unknown]> => [
  response.status,
  ((await response.json()) as { code?: unknown }).code,
];
/** Reads the URL in an event, at this ingress. */
const download = async (body: unknown): Promise<Buffer> => {
  const { raw_body_url: url } = body as { raw_body_url: string };
  expect(url.startsWith(`${publicUrl}/`)).toBe(true);
  const response = await fetch(served.url(url.slice(publicUrl.length)));
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};
/** The beginning of a request whose body does not end. */
const beginning = (length: number, sent: number): Buffer =>
  Buffer.concat([Buffer.from(`POST /source${query} HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n\r\n`), randomBytes(sent)]);

describe("a request that asks to have its body stored", () => {
  it.each([0, 1, 524_288, 524_289, limit])("starts a run with the URL of its %i bytes", async (length) => {
    const bytes = randomBytes(length);
    expect((await post(`/source/a${query}`, bytes, { "content-type": "application/pdf" })).status).toBe(200);
    const event = eventOf(served.stored[0]);
    expect(event).toMatchObject({ method: "POST", path: "/a", body: { size: length, content_type: "application/pdf" } });
    expect(event).not.toHaveProperty("bodyRaw");
    expect(event).not.toHaveProperty("bodyBase64");
    expect((event.body as { raw_body_url: string }).raw_body_url).toMatch(/\/body\.pdf$/);
    expect(Buffer.compare(await download(event.body), bytes)).toBe(0);
  });

  it("may ask by a header, and send chunks without a length", async () => {
    const bytes = randomBytes(700_000);
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(served.url("/source"), { method: "PUT", headers: { "x-pd-upload-body": "1" } }, (response) => {
        resolve(response.resume().statusCode);
      });
      request.on("error", reject);
      for (let at = 0; at < bytes.length; at += 10_000) request.write(bytes.subarray(at, at + 10_000));
      request.end();
    });
    expect(status).toBe(200);
    const { body } = eventOf(served.stored[0]);
    expect(body).toEqual({ raw_body_url: expect.stringMatching(/\/body\.bin$/), size: 700_000 });
    expect(Buffer.compare(await download(body), bytes)).toBe(0);
  });

  it("does not trust the Host header for the URL", async () => {
    const { socket } = await rawClient(served.port, `POST /source${query} HTTP/1.1\r\nhost: evil.example\r\ncontent-length: 1\r\n\r\nx`);
    expect(await waitUntil(() => served.stored.length === 1, 60_000)).toBe(true);
    socket.destroy();
    expect(JSON.stringify(eventOf(served.stored[0]).body)).not.toContain("evil");
  });

  it("is stored under another id each time, also twice at once", async () => {
    const bodies = [randomBytes(600_000), randomBytes(600_000)];
    await Promise.all(bodies.map((body) => post(`/source${query}`, body)));
    const found = await Promise.all(served.stored.map((each) => download(eventOf(each).body)));
    expect(found.map((bytes) => bodies.findIndex((body) => body.equals(bytes))).toSorted()).toEqual([0, 1]);
  });

  it.each([
    ["a length", { "content-length": String(limit + 1) }],
    ["chunks", { "transfer-encoding": "chunked" }],
  ])("is answered 413 with one byte more than the limit, sent with %s", async (_how, headers) => {
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(served.url(`/source${query}`), { method: "POST", headers }, (response) => {
        resolve(response.resume().statusCode);
      });
      request.on("error", reject);
      request.end(Buffer.alloc(limit + 1));
    });
    expect([status, served.stored]).toEqual([413, []]);
  });

  it.each([
    ["off", () => ({}), 404],
    ["source", () => ({ overQuota: () => Date.now() + 60_000 }), 429],
    ["custom", () => ({ overQuota: () => Date.now() + 60_000 }), 429],
    ["source", () => ({ admission: fullBacklog() }), 429],
  ] as const)("is refused before its body is read: %s", async (key, ports, status) => {
    // A report of a backlog is too old after some seconds.
    await serve({}, ports());
    const client = await rawClient(served.port, `POST /${key}${query} HTTP/1.1\r\nhost: a\r\ncontent-length: 500000\r\n\r\n`);
    expect(await waitUntil(() => client.received().includes(` ${status} `), 60_000)).toBe(true);
    client.socket.destroy();
    expect([files.calls, served.stored]).toEqual([[], []]);
  });

  it("is answered 507 when the owner has no room, without numbers of the owner", async () => {
    files.failures.push({ on: "write", error: new QuotaExceeded("u_1 has 12345 bytes", { code: "files_full" }) });
    const response = await post(`/source${query}`, randomBytes(600_000));
    const text = await response.text();
    expect([response.status, JSON.parse(text)]).toMatchObject([507, { code: "files_full" }]);
    expect(text).not.toContain("12345");
    expect(served.stored).toEqual([]);
  });

  it("starts no run if the client leaves", async () => {
    await serve({ transfersOfOwner: 1 });
    const client = await rawClient(served.port, beginning(1_000_000, 600_000));
    expect(await waitUntil(() => files.calls.includes("write"), 60_000)).toBe(true);
    client.socket.destroy();
    await expectFree();
  });

  it("is answered 408 if its bytes stop, and starts no run", async () => {
    await serve({ requestTimeoutMs: 300 });
    const client = await rawClient(served.port, beginning(1_000_000, 1_000));
    expect(await waitUntil(() => client.received().includes(" 408 ") && client.isClosed(), 120_000)).toBe(true);
    expect(client.received()).toContain("request_timeout");
    expect(served.stored).toEqual([]);
  });

  it("is answered 413 if it arrives in thousands of tiny chunks", async () => {
    const client = await rawClient(served.port, `POST /source${query} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n`);
    client.socket.write("1\r\nx\r\n".repeat(20_000));
    expect(await waitUntil(() => client.received().includes("too_many_chunks"), 120_000)).toBe(true);
    client.socket.destroy();
  });

  it("is answered 503 while the owner sends as many as it may; other owners are served", async () => {
    await serve({ transfersOfOwner: 2 });
    const clients = await Promise.all([1, 2].map(() => rawClient(served.port, beginning(1_000_000, 600_000))));
    expect(await waitUntil(() => files.calls.length >= 2, 60_000)).toBe(true);
    expect(await outcomeOf(await post(`/source${query}`, "x"))).toEqual([503, "overloaded"]);
    expect((await post(`/other${query}`, "x")).status).toBe(200);
    for (const { socket } of clients) socket.destroy();
    await expectFree();
  });

  it("is answered 503 while all owners together send as many as a process takes", async () => {
    await serve({ transfers: 1 });
    const { socket } = await rawClient(served.port, beginning(1_000_000, 600_000));
    expect(await waitUntil(() => files.calls.length >= 1, 60_000)).toBe(true);
    expect(await outcomeOf(await post(`/other${query}`, "x"))).toEqual([503, "overloaded"]);
    socket.destroy();
    await expectFree();
  });

  it("reads no faster than the parts are stored", async () => {
    let [stored, release] = [0, (): void => undefined];
    const gate = new Promise<void>((resolve) => (release = resolve));
    const write: MemoryRunFiles["write"] = async (of, bytes) => {
      stored++;
      await gate;
      return files.write(of, bytes);
    };
    await serve({ uploadLimitBytes: 64 * 2 ** 20 }, { files: { ...files, write, newUploadId: () => "up_1" } });
    const client = await rawClient(served.port, `POST /source${query} HTTP/1.1\r\nhost: a\r\ncontent-length: 50000000\r\n\r\n`);
    client.socket.write(Buffer.alloc(50_000_000));
    expect(await waitUntil(() => stored === 1, 60_000)).toBe(true);
    let [left, before] = [0, Number.NaN];
    const standsStill = (): boolean => {
      [before, left] = [left, client.socket.writableLength];
      return left === before;
    };
    expect(await waitUntil(standsStill, 60_000)).toBe(true);
    expect([stored, left > 0]).toEqual([1, true]);
    release();
    expect(await waitUntil(() => client.received().includes(" 200 "), 120_000)).toBe(true);
    client.socket.destroy();
  });

  describe("with a form", () => {
    const formOf = (fields: readonly (readonly [string, string | Blob, string?])[]): FormData => {
      const form = new FormData();
      for (const [name, value, filename] of fields) {
        if (typeof value === "string") form.append(name, value);
        else form.append(name, value, filename);
      }
      return form;
    };
    const send = (form: FormData, path = `/source${query}`): Promise<Response> => fetch(served.url(path), { method: "POST", body: form });
    interface Shown {
      readonly filename: string;
      readonly contentType: string;
      readonly size: number;
      readonly url: string;
    }

    it("has its fields, and the URL of each of its files", async () => {
      const [large, small] = [randomBytes(1_200_000), Buffer.from("a,b")];
      const form = formOf([
        ["title", "Ada"],
        ["photo", new Blob([large], { type: "image/png" }), "a b/é.png"],
        ["tag", "one"],
        ["sheet", new Blob([small], { type: "text/csv" }), "s.csv"],
        ["sheet", new Blob([], { type: "text/csv" }), "none.csv"],
        ["tag", "two"],
        ["__proto__", "own"],
      ]);
      expect((await send(form)).status).toBe(200);
      const body = eventOf(served.stored[0]).body as Readonly<Record<string, unknown>>;
      const { photo, sheet } = body as { photo: Shown; sheet: readonly Shown[] };
      expect(Object.keys(body).toSorted()).toEqual(["__proto__", "photo", "sheet", "tag", "title"]);
      expect(body).toMatchObject({ title: "Ada", tag: ["one", "two"] });
      expect(photo).toEqual({ filename: "é.png", contentType: "image/png", size: large.length, url: expect.any(String) });
      expect(sheet.map(({ filename, size }) => [filename, size])).toEqual([
        ["s.csv", 3],
        ["none.csv", 0],
      ]);
      for (const [file, content] of [[photo, large] as const, [sheet[0], small] as const, [sheet[1], Buffer.alloc(0)] as const])
        expect(Buffer.compare(await download({ raw_body_url: file?.url }), content)).toBe(0);
    });

    it.each([
      ["files", Array.from({ length: 101 }, (_, index) => [`f${index}`, new Blob(["x"]), "x"] as const), "too many fields"],
      ["text", [["long", "x".repeat(600_000)] as const], "send larger ones as files"],
      ["names", Array.from({ length: 900 }, (_, index) => [`${index}${"n".repeat(700)}`, ""] as const), "send larger ones as files"],
    ])("is answered 413 with too many %s", async (_what, fields, message) => {
      const response = await send(formOf(fields));
      expect([response.status, await response.json()]).toEqual([413, { code: "body_too_large", error: expect.stringContaining(message) }]);
      expect(served.stored).toEqual([]);
      await expectFree();
    });

    it.each([
      ["has no boundary", "multipart/form-data", "x"],
      ["is no form", "multipart/form-data; boundary=b", "x".repeat(700_000)],
      ["ends within a file", "multipart/form-data; boundary=b", '--b\r\ncontent-disposition: form-data; name="f"; filename="f"\r\n\r\nabc'],
    ])("is answered 400 if it %s", async (_what, type, body) => {
      expect(await outcomeOf(await post(`/source${query}`, body, { "content-type": type }))).toEqual([400, "invalid_multipart"]);
      expect(served.stored).toEqual([]);
      await expectFree();
    });

    it("is answered 507 when there is no room for one of its files", async () => {
      files.failures.push({ on: "write", error: new QuotaExceeded("u_1 has 12345 bytes", { code: "files_full" }) });
      const form = formOf([
        ["a", new Blob([randomBytes(1_100_000)]), "a"],
        ["b", new Blob([randomBytes(100)]), "b"],
      ]);
      expect(await outcomeOf(await send(form))).toEqual([507, "files_full"]);
      expect(served.stored).toEqual([]);
      await expectFree();
    });
  });

  async function expectFree(): Promise<void> {
    expect(await waitUntil(async () => (await post(`/source${query}`, "x")).status === 200, 60_000)).toBe(true);
    // No body but that above, and the like, has started a run.
    for (const each of served.stored.splice(0)) expect(eventOf(each).body).toMatchObject({ size: 1 });
  }
});

function fullBacklog(): AdmissionGate {
  const admission = new AdmissionGate(defaultBacklogLimits);
  admission.update("default", "r_1", { partitions: [], sources: ["dc_1"], owners: [] }, performance.now());
  return admission;
}

it("is an ordinary request with another value, and the answer 413 says how to send a large body", async () => {
  expect((await post("/source?pipedream_upload_body=0", "x", { "x-pd-upload-body": "yes" })).status).toBe(200);
  expect(eventOf(served.stored[0])).toMatchObject({ bodyRaw: "x" });
  const response = await post("/source", Buffer.alloc(524_289));
  expect([response.status, await response.json()]).toEqual([
    413,
    {
      code: "body_too_large",
      error: `the request body is larger than 524288 bytes (512 KiB): send it with the query parameter pipedream_upload_body=1 or the header x-pd-upload-body: 1, which allows ${limit} bytes`,
    },
  ]);
});
