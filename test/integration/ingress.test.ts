import { request as httpRequest } from "node:http";
import net from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { AdmissionGate, defaultBacklogLimits } from "../../domain/limits/admission.ts";
import { decodePack, type Answer, type HttpEvent, type Invocation, type RunSummary } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { partitionCount } from "../../domain/subjects.ts";
import { ingressDefaults, type IngressConfig, type IngressPorts } from "../../ingress/ports.ts";
import { createBoundedServer } from "../../platform/http/bounded-server.ts";
import { RequestBodies } from "../../platform/http/request-bodies.ts";
import { startIngress, type Ingress } from "../../ingress/start.ts";
import { followAdmission } from "../../platform/jetstream/members/admission.ts";
import { createRunFiles } from "../../platform/jetstream/files/run-files.ts";
import { RunAnswers, sendAnswer } from "../../platform/jetstream/requests/run-answers.ts";
import { Bucket } from "../../platform/jetstream/buckets/bucket.ts";
import { setUpPool } from "../../platform/jetstream/invocations/pool-consumers.ts";
import { packPublisher } from "../../platform/jetstream/invocations/publish-invocation.ts";
import type { Stoppable } from "../../platform/jetstream/connection/link.ts";
import { readPartition } from "../../platform/jetstream/read/partition-reader.ts";
import { announce, runnersOf } from "../../platform/jetstream/members/group.ts";
import { followOverQuota, createOwnerLimits } from "../../platform/jetstream/buckets/quotas.ts";
import { openEndpointDirectory, type EndpointDirectory } from "../../platform/jetstream/buckets/endpoint-directory.ts";
import { withJetStream } from "./jetstream/support.ts";
import { until } from "../support/until.ts";

const nats = withJetStream({ partitions: partitionCount });
const sources = { plain: "dc_plain", custom: "dc_custom" } as const;
let endpoints: EndpointDirectory;
let answers: RunAnswers;
let ingress: Ingress;
const running: Ingress[] = [];
const readings: Stoppable[] = [];
let runs = 0;

const ports = (changes: Partial<IngressPorts> = {}): IngressPorts => ({
  endpoints,
  invocations: {
    publish: async (subject, pack) => void (await nats.connection.publisher.publish(subject, pack, { timeoutMs: 1_500 })),
  },
  answers,
  admission: new AdmissionGate(defaultBacklogLimits),
  overQuota: () => 0,
  newRunId: () => `r_${runs++}`,
  createServer: createBoundedServer,
  bodies: new RequestBodies(32 * 2 ** 20),
  files: { ...createRunFiles(nats.connection, async () => ({ release: () => undefined })), newUploadId: () => `up_${runs++}` },
  log: { warn: (fields) => process.stderr.write(`${JSON.stringify(fields)}\n`) },
  ...changes,
});
const start = async (config: Partial<IngressConfig> = {}, changes: Partial<IngressPorts> = {}): Promise<Ingress> => {
  const started = await startIngress({ ...ingressDefaults, port: 0, ...config }, ports(changes));
  running.push(started);
  return started;
};
const url = (path: string, of = ingress): string => `http://${of.address}${path}`;

/** Reads a source's partition, and returns its messages. */
async function receive(source: string, onInvocation: (invocation: Invocation) => void): Promise<Stoppable> {
  const reading = await readPartition({
    connection: nats.connection,
    pool: "default",
    restore: () => setUpPool(nats.connection, { pool: "default" }),
    partition: partitionOf(source),
    onMessage: (message) => {
      for (const invocation of decodePack(message.text())) onInvocation(invocation);
      message.ack();
    },
  });
  readings.push(reading);
  return reading;
}

async function eventOf(path: string, init: RequestInit): Promise<HttpEvent> {
  const got: Invocation[] = [];
  const reading = await receive(sources.plain, (invocation) => got.push(invocation));
  expect((await fetch(url(path), init)).status).toBe(200);
  await until(() => got.length === 1, "the invocation");
  await reading.stop();
  expect(got[0]).toMatchObject({ source: sources.plain, trigger: "http" });
  return got[0]?.event as HttpEvent;
}

beforeAll(async () => {
  const bucket = new Bucket<unknown>(nats.connection, "ENDPOINTS", (json) => json);
  await bucket.put("plain1", { source: sources.plain, customResponse: false, active: true });
  await bucket.put("custom1", { source: sources.custom, customResponse: true, active: true });
  await bucket.put("asleep1", { source: "dc_asleep", customResponse: false, active: false });
  const workflow = { hasHttpTrigger: true, resumeKey: "key" };
  await bucket.put("workflow1", { source: "p_1", owner: "u_1", customResponse: false, active: true, workflow });
  endpoints = await openEndpointDirectory(nats.connection);
  answers = new RunAnswers(nats.connection);
  answers.start();
  ingress = await start();
});
afterEach(() => Promise.all(readings.splice(0).map((reading) => reading.stop())));
afterAll(async () => {
  await Promise.all(running.map((each) => each.stop(AbortSignal.timeout(1_000))));
  answers.stop();
  await endpoints.stop();
});

test("stores a request as an invocation with method, path, query, headers and body", async () => {
  const event = await eventOf("/plain1/a/b%20c?x=1&y=2&x=3&__proto__=p", {
    method: "PUT",
    body: '{"ä":1}',
    headers: { "content-type": "application/json", "X-Custom": "Yes" },
  });
  expect(event).toMatchObject({
    method: "PUT",
    path: "/a/b%20c",
    query: { x: ["1", "3"], y: "2" },
    bodyRaw: '{"ä":1}',
    client_ip: "127.0.0.1",
    url: url("/plain1/a/b%20c?x=1&y=2&x=3&__proto__=p"),
  });
  expect(event.headers["x-custom"]).toBe("Yes");
  expect(event.body).toBeUndefined();
});

test("refuses requests that wait for the response of an owner over quota with Retry-After, and stores others", async () => {
  const bucket = new Bucket<unknown>(nats.connection, "ENDPOINTS", (json) => json);
  await bucket.put("over1", { source: sources.plain, owner: "u_over", customResponse: false, active: true });
  await bucket.put("over2", { source: sources.custom, owner: "u_over", customResponse: true, active: true });
  const counting = createOwnerLimits(nats.connection);
  const overQuota = await followOverQuota(nats.connection);
  await counting.block("u_over", Date.now() + 3_600_000);
  await until(() => overQuota.blockedUntil("u_over") > 0, "it is known");
  const started = await start({}, { overQuota: overQuota.blockedUntil });
  const refused = await fetch(url("/over2", started));
  expect([refused.status, await refused.json()]).toEqual([429, expect.objectContaining({ code: "quota_exceeded" })]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_000);
  const got: Invocation[] = [];
  const reading = await receive(sources.plain, (invocation) => got.push(invocation));
  expect((await fetch(url("/over1", started))).status).toBe(200);
  await until(() => got.length === 1, "the invocation");
  await reading.stop();
  await counting.unblock("u_over", Date.now());
  await until(() => overQuota.blockedUntil("u_over") === 0, "it is over");
  await overQuota.stop();
});

test("passes a body that is not UTF-8 in base64, and omits an empty one", async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00]);
  expect(await eventOf("/plain1", { method: "POST", body: bytes })).toMatchObject({
    path: "/",
    bodyBase64: bytes.toString("base64"),
  });
  expect(Object.keys(await eventOf("/plain1", { method: "GET" }))).not.toContain("bodyRaw");
});

test("parses forms and multipart bodies", async () => {
  const form = await eventOf("/plain1", {
    method: "POST",
    body: new URLSearchParams([
      ["a", "1"],
      ["b[c]", "2"],
      ["a", "3"],
    ]),
  });
  expect(form.body).toEqual({ a: ["1", "3"], "b[c]": "2" });
  const multipart = new FormData();
  multipart.append("name", "x");
  multipart.append("tag", "1");
  multipart.append("tag", "2");
  multipart.append("file", new File(["hello"], "h.txt", { type: "text/plain" }));
  const { body } = await eventOf("/plain1", { method: "POST", body: multipart });
  expect(body).toEqual({
    name: "x",
    tag: ["1", "2"],
    file: { filename: "h.txt", contentType: "text/plain", size: 5, content: Buffer.from("hello").toString("base64") },
  });
});

test("passes an invalid multipart body unchanged", async () => {
  const event = await eventOf("/plain1", {
    method: "POST",
    body: "--x\r\nnonsense",
    headers: { "content-type": "multipart/form-data; boundary=x" },
  });
  expect(event.bodyRaw).toBe("--x\r\nnonsense");
  expect(event.body).toBeUndefined();
});

test.each(["/unknown", "/asleep1", "/", "/../etc", "/plain1%00"])("returns 404 for %s", async (path) => {
  const response = await fetch(url(path), { method: "POST", body: "x".repeat(100_000) });
  expect([response.status, await response.json()]).toEqual([404, { error: expect.any(String), code: "endpoint_not_found" }]);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
});

test("answers OPTIONS with permissive CORS", async () => {
  const response = await fetch(url("/plain1/x"), {
    method: "OPTIONS",
    headers: { "access-control-request-headers": "x-a, x-b" },
  });
  expect([response.status, response.headers.get("access-control-allow-headers")]).toEqual([204, "x-a, x-b"]);
});

test("accepts an absolute URL as the request target, and refuses several Host headers", async () => {
  const [host = "", port = ""] = ingress.address.split(":");
  const sent = (target: string, hosts: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = net.connect(Number(port), host, () => socket.write(`POST ${target} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`));
      let answer = "";
      socket.setEncoding("utf8").on("data", (text: string) => (answer += text));
      socket.once("close", () => resolve(answer)).once("error", reject);
    });
  const got: Invocation[] = [];
  await receive(sources.plain, (invocation) => got.push(invocation));
  expect(await sent("http://elsewhere.test/plain1/a?x=1", "Host: here.test\r\n")).toMatch(/^HTTP\/1\.1 200 /);
  await until(() => got.length === 1, "the invocation");
  expect(got[0]?.event).toMatchObject({ path: "/a", query: { x: "1" }, url: "http://here.test/plain1/a?x=1" });
  expect(await sent("/plain1", "Host: a\r\nHost: b\r\n")).toMatch(/^HTTP\/1\.1 400 .*"code":"malformed"/s);
  expect(await sent("http://elsewhere.test", "Host: a\r\n")).toMatch(/^HTTP\/1\.1 404 /);
});

test("returns 413 for a body over the limit, declared or not, and accepts one at the limit", async () => {
  const limit = ingressDefaults.bodyLimitBytes;
  const stream = (bytes: number) =>
    new ReadableStream({
      start: (c) => {
        for (let i = 0; i < bytes; i += 65_536) c.enqueue(new Uint8Array(65_536));
        c.close();
      },
    });
  const post = (body: RequestInit["body"], extra: object = {}) => fetch(url("/plain1"), { method: "POST", body: body ?? null, ...extra });
  expect((await post(new Uint8Array(limit + 1))).status).toBe(413);
  expect((await post(stream(limit + 65_536), { duplex: "half" })).status).toBe(413);
  expect((await post(new Uint8Array(limit))).status).toBe(200);
});

test("answers Expect: 100-continue with 100, or at once with 413 if the body is too large", async () => {
  const ask = (bytes: number) =>
    new Promise<{ continued: boolean; status: number | undefined }>((resolve, reject) => {
      let continued = false;
      const request = httpRequest(url("/plain1"), {
        method: "POST",
        headers: { expect: "100-continue", "content-length": bytes },
      });
      request.on("continue", () => {
        continued = true;
        request.end(Buffer.alloc(bytes));
      });
      request.on("response", (response) => {
        response.resume();
        resolve({ continued, status: response.statusCode });
        request.destroy();
      });
      request.on("error", reject);
      request.flushHeaders();
    });
  expect(await ask(10)).toEqual({ continued: true, status: 200 });
  expect(await ask(10_000_000)).toEqual({ continued: false, status: 413 });
});

test("returns 408 to a client that sends too slowly", async () => {
  const strict = await start({ requestTimeoutMs: 1_000 });
  const socket = net.connect(Number(strict.address.split(":")[1]), "127.0.0.1");
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString()));
  socket.write("POST /plain1 HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nx");
  await until(() => text.includes(" 408 "), "408");
  socket.destroy();
});

test("packs requests that arrive during a publish, each once", async () => {
  const count = 80;
  const { promise: haveArrived, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  class CountingGate extends AdmissionGate {
    override admits(...request: Parameters<AdmissionGate["admits"]>): boolean {
      if (++arrived === count) resolve();
      return super.admits(...request);
    }
  }
  const { invocations } = ports();
  const publish: IngressPorts["invocations"]["publish"] = async (subject, pack) => {
    await haveArrived;
    await invocations.publish(subject, pack);
  };
  const packing = await start({}, { admission: new CountingGate(defaultBacklogLimits), invocations: { publish } });
  const seen = new Map<string, number>();
  const sequences = new Set<number>();
  readings.push(
    await readPartition({
      connection: nats.connection,
      pool: "default",
      restore: () => setUpPool(nats.connection, { pool: "default" }),
      partition: partitionOf(sources.plain),
      onMessage: (message) => {
        for (const { event } of decodePack(message.text())) {
          const { path } = event as HttpEvent;
          if (!path.startsWith("/n")) continue; // Of a test before this one.
          sequences.add(message.seq);
          seen.set(path, (seen.get(path) ?? 0) + 1);
        }
        message.ack();
      },
    }),
  );
  const statuses = await Promise.all(
    Array.from({ length: count }, async (_, i) => (await fetch(url(`/plain1/n${i}`, packing), { method: "POST", body: "x" })).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  await until(() => seen.size === count, "all");
  expect(Math.max(...seen.values())).toBe(1);
  // One that is published while the others arrive, and three packs of up to 32.
  expect(sequences.size).toBeLessThanOrEqual(4);
});

const run = (id: string, error: RunSummary["error"]): RunSummary => ({
  id,
  source: sources.custom,
  trigger: "http",
  generation: 1,
  startedAt: 0,
  durationMs: 1,
  cpuMs: 1,
  eventIds: [],
  logs: [],
  error,
  result: null,
});
const respond = (answersOf: (invocation: Invocation) => readonly Answer[]): Promise<Stoppable> =>
  receive(sources.custom, (invocation) => {
    for (const answer of answersOf(invocation)) sendAnswer(nats.connection, invocation.answerTo ?? "none", answer);
  });

test("sends the response passed to respond(), without headers of the connection", async () => {
  await respond(({ event }) => [
    {
      kind: "response",
      response: {
        status: 201,
        headers: {
          "X-A": "1",
          // A response cannot give the browser a session of the console, also not by a cookie without a name.
          "set-cookie": ["a=1", "headwater_session=x", "=headwater_session=x; Path=/v1", "__Host-headwater_session=x; Secure", "b=2"],
          connection: "close",
          "content-length": "9999",
        },
        body: `got ${(event as HttpEvent).bodyRaw}`,
      },
    },
  ]);
  const response = await fetch(url("/custom1"), { method: "POST", body: "ping" });
  expect([response.status, await response.text(), response.headers.get("x-a"), response.headers.getSetCookie()]).toEqual([
    201,
    "got ping",
    "1",
    ["a=1", "b=2"],
  ]);
});

test("sends a binary custom response as bytes", async () => {
  await respond(() => [
    {
      kind: "response",
      response: { status: 200, headers: {}, body: Buffer.from([1, 255]).toString("base64"), base64: true },
    },
  ]);
  expect([...new Uint8Array(await (await fetch(url("/custom1"))).arrayBuffer())]).toEqual([1, 255]);
});

test.each<[string, number, string, (id: string) => Answer]>([
  ["ends without respond()", 504, "no_response", (id) => ({ kind: "run", run: run(id, null) })],
  ["throws", 500, "run_failed", (id) => ({ kind: "run", run: run(id, { name: "Error", message: "private" }) })],
  [
    "gives a header that HTTP does not allow",
    500,
    "invalid_response",
    () => ({ kind: "response", response: { status: 200, headers: { "x-a": "1\r\nx-b: 2" }, body: "" } }),
  ],
  [
    "gives a status that HTTP does not have",
    500,
    "invalid_response",
    () => ({ kind: "response", response: { status: 99, headers: {}, body: "" } }),
  ],
])("a run that %s is answered %i %s", async (_what, status, code, answer) => {
  await respond(({ run: id }) => [answer(id ?? "")]);
  const response = await fetch(url("/custom1"), { method: "POST", body: "x" });
  const text = await response.text();
  expect([response.status, JSON.parse(text).code]).toEqual([status, code]);
  expect(text).not.toContain("private");
});

test("returns 504 if no response comes in time, and stops waiting when the caller leaves", async () => {
  const impatient = await start({ answerTimeoutMs: 300 });
  const response = await fetch(url("/custom1", impatient));
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([504, "response_timeout"]);
  await expect(fetch(url("/custom1"), { signal: AbortSignal.timeout(100) })).rejects.toThrow(/abort|timeout/i);
});

test("returns 429 for a source that its runner reports as full, and 200 once it is no longer full", async () => {
  const { gate, stop } = await followAdmission(nats.connection, defaultBacklogLimits);
  const guarded = await start({}, { admission: gate });
  const post = async (path: string) => await fetch(url(path, guarded), { method: "POST", body: "x" });
  let full = [sources.plain as string];
  const runner = await announce(nats.connection, runnersOf("default"), "r_full", {
    report: () => Promise.resolve({ backlog: { partitions: [], sources: full, owners: [] } }),
  });
  await until(async () => (await post("/plain1")).status === 429, "refused");
  const refused = await post("/plain1");
  expect([refused.headers.get("retry-after"), await refused.json()]).toEqual(["2", { error: expect.any(String), code: "backlog_full" }]);
  full = [];
  runner.beatSoon();
  await until(async () => (await post("/plain1")).status === 200, "accepted again");
  await runner.leave();
  await stop();
});

test("accepts at most the limit of a source while no runner is live, and requests of other sources", async () => {
  const guarded = await start({}, { admission: new AdmissionGate({ ...defaultBacklogLimits, sourceInvocations: 3 }) });
  const post = async (path: string) => (await fetch(url(path, guarded), { method: "POST", body: "x" })).status;
  const statuses: number[] = [];
  for (let n = 0; n < 5; n++) statuses.push(await post("/plain1"));
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
});

test("returns 503 with Retry-After while NATS is down, then 200 again", async () => {
  await nats.server.server.kill();
  const response = await fetch(url("/plain1"), { method: "POST", body: "x" });
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  await nats.server.crash();
  await until(async () => (await fetch(url("/plain1"), { method: "POST", body: "x" })).status === 200, "taken again");
});

test("accepts a request that was in flight when NATS was killed, and stores it once", async () => {
  const publish = packPublisher(nats.connection);
  let sent = 0;
  const counted = (subject: string, pack: string): Promise<void> => {
    const stored = publish(subject, pack);
    sent++;
    return stored;
  };
  const patient = await start({}, { invocations: { publish: counted } });
  process.kill(nats.server.server.pid, "SIGSTOP");
  const response = fetch(url("/plain1/in-doubt", patient), { method: "POST", body: "x" });
  await until(() => sent === 1, "the request is sent to NATS");
  await nats.server.crash();
  expect((await response).status).toBe(200);
  const paths: string[] = [];
  await receive(sources.plain, ({ event }) => paths.push((event as HttpEvent).path));
  await until(() => paths.includes("/in-doubt"), "the invocation");
  expect(paths.filter((path) => path === "/in-doubt")).toHaveLength(1);
});

test("reads the endpoint of a workflow with the key of its resume URLs", async () => {
  const forged = `/workflow1/runs/r_1/1/resume/${Date.now() + 60_000}/${"x".repeat(43)}`;
  expect((await fetch(url(forged))).status).toBe(404);
  expect((await fetch(url("/workflow1"))).status).toBe(200);
});

test("finishes requests in progress when it stops, and disconnects the rest when the signal aborts", async () => {
  const stopping = await start();
  let asked: Invocation | undefined;
  // Invocations that an earlier test left unacked may be redelivered.
  await receive(sources.custom, (invocation) => {
    if ((invocation.event as HttpEvent).path === "/in-flight") asked = invocation;
  });
  const first = fetch(url("/custom1/in-flight", stopping));
  await until(() => asked !== undefined, "in flight");
  const stopped = stopping.stop(AbortSignal.timeout(5_000));
  await expect(fetch(url("/plain1", stopping))).rejects.toThrow("fetch failed");
  sendAnswer(nats.connection, asked?.answerTo ?? "", {
    kind: "response",
    response: { status: 200, headers: {}, body: "done" },
  });
  expect(await (await first).text()).toBe("done");
  await stopped;
  const cut = await start();
  const hanging = fetch(url("/custom1", cut)).catch((error: unknown) => error);
  await until(async () => (await fetch(url("/unknown", cut))).status === 404, "it serves");
  await cut.stop(AbortSignal.timeout(200));
  expect(await hanging).toBeInstanceOf(Error);
});
