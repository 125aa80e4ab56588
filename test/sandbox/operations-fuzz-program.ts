import { writeSync } from "node:fs";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Activity } from "../../runner/sandbox/isolate/activity.ts";
import { bind, call, post, sync, type Sendable } from "../../runner/sandbox/guest/runtime/bridge.ts";
import { answerCall, performPost, performSync } from "../../runner/sandbox/isolate/guest-calls.ts";
import { toGuestError } from "../../runner/sandbox/isolate/isolate-errors.ts";
import { Connector } from "../../runner/sandbox/network/connector.ts";
import { waitedOperations, type Network } from "../../runner/sandbox/operations/index.ts";
import { newMessages } from "../../runner/sandbox/isolate/bridge.ts";
import { ProductCollector } from "../../runner/sandbox/isolate/products.ts";
import { hostileValues } from "./attacks/hostile-values.ts";
import { asyncExamples, postExamples, syncExamples, waitedExamples, type Example } from "./operation-examples.ts";

/**
 * A process of its own, since a failure may be its end: calls every host operation with each part of its arguments replaced by each hostile
 * value, by the host's door and through the guest's bridge. Prints the call before it is made, and lines that begin with FAIL.
 */
const maxCpuMs = 400;
/** A busy machine stretches a single measurement: the shortest of these counts. */
const maxMeasurements = 3;
/** One of so many hostile calls is made. */
const sampleStep = Number(process.env["SAMPLE_STEP"] ?? 1);
let candidates = Math.floor(Math.random() * sampleStep);
const isSampled = (): boolean => candidates++ % sampleStep === 0;
let calls = 0;
const key = crypto.subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["encrypt"]);

/** Ends each connection when something comes. */
const server = createServer((socket) => socket.on("error", () => {}).once("data", () => socket.destroy())).listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

const connector = new Connector(
  {
    allow: [],
    resolve: async (host) => {
      if (host === "127.0.0.1") return [{ address: host, family: 4 }];
      throw Object.assign(new Error(`egress to ${host.slice(0, 20)} is denied`), { code: "egress_denied" });
    },
  },
  4,
);
const network: Network = {
  connect: (...request) => connector.connect("u_1", ...request),
  resolve: (...request) => connector.resolve("u_1", ...request),
  askStore: () => Promise.resolve({ kind: "clear", deleted: 0 }),
  askFiles: () => Promise.resolve("name"),
  sendPiece: () => Promise.resolve(true),
};

let activity = newActivity(new Map());

function newActivity(state: Map<string, unknown>): Activity {
  const entrances = { deliver: () => Promise.resolve(), rest: () => {}, network, owner: `u_${calls}`, state };
  return new Activity("run", entrances, new ProductCollector());
}

const dispatch = bind((operation, ...args) => {
  try {
    if (operation === "outbox") return takeOutbox(args[0]);
    return [true, structuredClone(performSync(activity, operation, structuredClone(args)))];
  } catch (error) {
    return [false, toGuestError(error)];
  }
});

let acknowledged = 0;
const answers: Promise<unknown>[] = [];
function takeOutbox(outbox: unknown): number {
  for (const { sequence, kind, args } of newMessages(structuredClone(outbox), acknowledged)) {
    acknowledged = sequence;
    if (kind === "call") answers.push(answerCall(activity, args));
    else performPost(activity, kind, args);
  }
  return acknowledged;
}

type Door = (operation: string, args: readonly unknown[]) => unknown;
const flush = (): unknown => takeOutbox(dispatch(acknowledged, "none"));
const doors: Readonly<Record<string, Door>> = {
  "host sync": (operation, args) => performSync(activity, operation, args),
  "guest sync": (operation, args) => sync(operation, ...(args as Sendable[])),
  "host async": (operation, args) => answerCall(activity, [1, operation, args]),
  "guest async": (operation, args) => {
    void call(operation, ...(args as Sendable[])).catch(() => {});
    flush();
    return Promise.all(answers.splice(0));
  },
  "host waited": (operation, args) => waitedOperations[operation]?.(activity, args),
  "host post": async (operation, args) => {
    performPost(activity, operation, args);
    await sleep(3); // A connection that it opens comes to its first bytes.
  },
  "guest post": (operation, args) => {
    post(operation, ...(args as Sendable[]));
    flush();
  },
};

async function attempt(door: string, operation: string, { before = [] }: Example, args: readonly unknown[], what: string): Promise<void> {
  let cpuMs = Number.POSITIVE_INFINITY;
  for (let n = 0; n < maxMeasurements && cpuMs > maxCpuMs; n++)
    cpuMs = Math.min(cpuMs, await measureCall(door, operation, before, args, what));
  if (cpuMs > maxCpuMs) writeSync(1, `FAIL ${door} ${operation} ${what}: computed for ${Math.round(cpuMs)} ms\n`);
}

async function measureCall(
  door: string,
  operation: string,
  before: NonNullable<Example["before"]>,
  args: readonly unknown[],
  what: string,
): Promise<number> {
  calls += 1;
  const state = new Map<string, unknown>();
  activity = newActivity(state);
  for (const [name, ...given] of before) await Promise.resolve(doors[door]?.(name, given)).catch(() => {});
  writeSync(1, `${door} ${operation} ${what}\n`);
  const start = process.cpuUsage();
  try {
    const result = doors[door]?.(operation, args);
    const outcome = await Promise.race([result, sleep(10_000, "late", { ref: false })]);
    if (outcome === "late") writeSync(1, `FAIL ${door} ${operation} ${what}: no answer\n`);
  } catch (error) {
    if (!(error instanceof Error)) writeSync(1, `FAIL ${door} ${operation} ${what}: threw ${typeof error}\n`);
  }
  const { user, system } = process.cpuUsage(start);
  activity.end({ outcome: "done", value: null });
  await encrypt();
  return (user + system) / 1_000;
}

/** A job of WebCrypto ends the process when it finds what another call left in OpenSSL's queue of errors. */
async function encrypt(): Promise<void> {
  await crypto.subtle.encrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, await key, new Uint8Array(5));
}

/** Paths to every part of the arguments. */
function* pathsIn(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (path.length > 0) yield path;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
  for (const [name, member] of Object.entries(value)) yield* pathsIn(member, [...path, name]);
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const entries = Object.entries(value as object).map(([key, member]) => [key, key === name ? replaced(member, rest, by) : member]);
  return Array.isArray(value) ? entries.map(([, member]) => member as unknown) : Object.fromEntries(entries);
}

const tables = [
  ["host sync", syncExamples],
  ["guest sync", syncExamples],
  ["host async", asyncExamples(port)],
  ["guest async", asyncExamples(port)],
  ["host waited", waitedExamples],
  ["host post", postExamples(port)],
  ["guest post", postExamples(port)],
] as const;

for (const [door, table] of tables) {
  for (const [operation, examples] of Object.entries(table)) {
    for (const example of examples) {
      await attempt(door, operation, example, structuredClone(example.args), "as it should be");
      for (const [name, make] of Object.entries(hostileValues)) {
        for (const path of pathsIn(example.args)) {
          if (!isSampled()) continue;
          const args = replaced(structuredClone(example.args), path, make()) as unknown[];
          await attempt(door, operation, example, args, `${path.join(".")} = ${name}`);
        }
        if (isSampled()) await attempt(door, operation, example, [make(), make(), make(), make(), make()], `all = ${name}`);
      }
    }
  }
}
writeSync(1, `done: ${calls} calls\n`);
process.exit(0);
