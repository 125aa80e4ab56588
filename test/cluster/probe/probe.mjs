/**
 * Runs in a pod of the cluster under test: a webhook's receiver, a load on endpoints, and a client of whatever a test wants to reach from
 * within. Plain JavaScript, since it is handed to the image's Node as a file of a ConfigMap.
 */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createHttpsServer, request as requestHttps } from "node:https";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";

/** Of each delivery: what was in the body, and by which id. */
const received = new Map();
const repeated = [];
/** Deliveries that came again under the same id, as at-least-once delivery may. */
let again = 0;
const load = { timer: undefined, underWay: new Set(), sources: [], sent: 0, refused: {}, slowestMs: 0, sourceOf: new Map() };
/** The longest time without a delivery since the load began. */
const gap = { lastAt: 0, maxMs: 0, endedAt: 0 };

/** Keeps the longest time between two deliveries, of all sources and of each. */
function noteDelivery(source) {
  const now = Date.now();
  if (now - gap.lastAt > gap.maxMs) Object.assign(gap, { maxMs: now - gap.lastAt, endedAt: now });
  gap.lastAt = now;
  if (source === undefined) return;
  source.pauseMs = Math.max(source.pauseMs, now - (source.deliveredAt ?? now));
  source.deliveredAt = now;
}

const routes = {
  "POST /events": async (body, request) => {
    const { request: one } = JSON.parse(body);
    const id = request.headers["webhook-id"];
    const earlier = received.get(one);
    if (earlier !== undefined && earlier !== id) repeated.push({ one, earlier, id });
    if (earlier === id) again++;
    received.set(one, id);
    noteDelivery(load.sourceOf.get(one));
    return {};
  },
  "POST /refused": async () => {
    throw new Error("this endpoint accepts nothing");
  },
  "GET /received": async () => ({ requests: [...received.keys()], repeated }),
  /** For loads whose numbers of requests are too large to be listed. */
  "GET /delivered": async () => {
    const accepted = load.sources.flatMap((source) => source.accepted);
    const missing = accepted.filter((one) => !received.has(one));
    return {
      accepted: accepted.length,
      missing: missing.length,
      again,
      repeated: repeated.length,
      maxGapMs: gap.maxMs,
      gapEndedAt: gap.endedAt,
    };
  },
  "POST /call": async (body) => {
    const { url, method = "GET", headers = {}, body: sent, ca } = JSON.parse(body);
    const startedAt = performance.now();
    try {
      if (ca !== undefined) return { ...(await callTrusting({ url, method, headers, sent, ca })), ms: performance.now() - startedAt };
      const answer = await fetch(url, { method, headers, body: sent, signal: AbortSignal.timeout(20_000) });
      return { status: answer.status, text: await answer.text(), ms: performance.now() - startedAt };
    } catch (error) {
      return { status: 0, text: `${error.message} ${error.cause?.message ?? ""}`, ms: performance.now() - startedAt };
    }
  },
  /** Time until the endpoint answers 200, asked every few milliseconds. */
  "POST /until": async (body) => {
    const { url } = JSON.parse(body);
    for (const startedAt = Date.now(); Date.now() - startedAt < 30_000;) {
      const answer = await fetch(url, { method: "POST", body: "{}", signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
      await answer?.text().catch(() => undefined);
      if (answer?.status === 200) return { at: Date.now() };
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return { at: 0 };
  },
  /** What a TLS server presents to a new connection. */
  "POST /peer": async (body) => peer(JSON.parse(body)),
  "POST /reach": async (body) => ({ outcome: await reach(JSON.parse(body)) }),
  "POST /load": async (body) => {
    const { sources, perSecond } = JSON.parse(body);
    Object.assign(load, {
      sources: sources.map((source) => ({ ...source, accepted: [], pauseMs: 0 })),
      sourceOf: new Map(),
      refused: {},
      slowestMs: 0,
      sent: 0,
    });
    Object.assign(gap, { lastAt: Date.now(), maxMs: 0, endedAt: 0 });
    again = 0;
    load.timer = setInterval(() => track(send()), 1_000 / perSecond);
    return {};
  },
  "GET /load": async () => ({ sent: load.sent, accepted: load.sources.reduce((sum, { accepted }) => sum + accepted.length, 0) }),
  "POST /stop": async () => {
    clearInterval(load.timer);
    await Promise.all(load.underWay);
    const { sources, sent, refused, slowestMs } = load;
    return { sources, sent, refused, slowestMs, pausesMs: sources.map(({ pauseMs }) => pauseMs) };
  },
};

function track(work) {
  load.underWay.add(work);
  void work.finally(() => load.underWay.delete(work));
}

let requests = 0;

/** One request; what is answered 2xx has to have its run, whatever happens afterwards. */
async function send() {
  const one = `${process.env.PROBE}-${++requests}`;
  const source = load.sources[requests % load.sources.length];
  load.sent++;
  load.sourceOf.set(one, source);
  const startedAt = performance.now();
  try {
    const answer = await fetch(source.endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ request: one }),
      signal: AbortSignal.timeout(10_000),
    });
    await answer.arrayBuffer();
    load.slowestMs = Math.max(load.slowestMs, performance.now() - startedAt);
    if (answer.ok) source.accepted.push(one);
    else load.refused[answer.status] = (load.refused[answer.status] ?? 0) + 1;
  } catch (error) {
    // Not acknowledged: it may have its run or not.
    const why = error.cause?.code ?? error.name;
    load.refused[why] = (load.refused[why] ?? 0) + 1;
  }
}

function reach({ host, port, timeoutMs = 3_000 }) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (outcome) => (socket.destroy(), resolve(outcome));
    socket.on("connect", () => end("reached"));
    socket.on("timeout", () => end("timeout"));
    socket.on("error", (error) => end(error.code));
  });
}

/** `fetch` does not take authorities. */
async function callTrusting({ url, method, headers, sent, ca }) {
  const sending = requestHttps(url, { method, headers, ca, agent: false, timeout: 20_000 });
  sending.on("timeout", () => sending.destroy(new Error("no response"))).end(sent);
  const [answer] = await once(sending, "response");
  return { status: answer.statusCode, text: await text(answer) };
}

async function peer({ host, port, ca, greets }) {
  const socket = connect({ host, port });
  const greeting = greets ? String((await once(socket, "data"))[0]) : "";
  socket.on("error", () => undefined);
  const secured = connectTls({ socket, servername: host, ca, rejectUnauthorized: false });
  secured.on("error", () => undefined);
  try {
    await once(secured, "secureConnect");
    const { CN } = secured.getPeerCertificate().subject;
    return { name: CN, isTrusted: secured.authorized, protocol: secured.getProtocol(), greeting };
  } finally {
    socket.destroy();
  }
}

function answerAll(request, response) {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", async () => {
    const route = routes[`${request.method} ${new URL(request.url, "http://probe").pathname}`];
    if (route === undefined) return response.writeHead(404).end();
    try {
      const answer = await route(Buffer.concat(chunks).toString(), request);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
}

createServer(answerAll).listen(Number(process.env.PROBE_PORT ?? 8080));
if (existsSync("/tls/tls.crt")) {
  const certificate = () => ({ cert: readFileSync("/tls/tls.crt"), key: readFileSync("/tls/tls.key") });
  const server = createHttpsServer(certificate(), answerAll).listen(8443);
  setInterval(() => server.setSecureContext(certificate()), 1_000);
}
process.on("SIGTERM", () => process.exit(0));
