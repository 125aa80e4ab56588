import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { SandboxChild } from "../../runner/sandbox/children/child-process.ts";
import { encodeFrame, FrameReader, ProtocolViolation } from "../../runner/sandbox/frames.ts";
import { isolateCommand } from "../../runner/sandbox/children/isolate-command.ts";
import { timeLimits } from "../../runner/sandbox/limits.ts";
import { localProcesses } from "../../runner/sandbox/processes/local.ts";
import { parseFromChild } from "../../runner/sandbox/children/from-child.ts";
import { debuggedChildLimits, type FromChild, fromChildLimits } from "../../runner/sandbox/children/protocol.ts";
import { createEgress } from "../../platform/http/egress.ts";
import { Connector, type EgressPolicy } from "../../runner/sandbox/network/connector.ts";
import type { DataStores, StoreRequest } from "../../domain/data-store/data-stores.ts";
import type { RunFiles } from "../../domain/files/run-files.ts";
import type { Execution } from "../../runner/sandbox/port.ts";
import { until } from "../support/until.ts";
import { requestFor } from "./sandbox-fixture.ts";

/** The messages of a child as an attacker's input: native code in a child can send its parent any bytes. */
const execution: Execution = {
  outcome: "returned",
  result: `{"a":1}`,
  emits: [{ payload: `{"n":1}`, id: 1, name: "channel", summary: "one", ts: 1, deliverAt: 2, at: 3 }],
  logs: [{ k: "console.log", ts: 1, msg: "line" }],
  db: { db: { key: "1", gone: null } },
  response: { status: 200, headers: { a: "b", c: ["d", "e"] }, body: "ok" },
  action: {
    exports: { $summary: `"s"` },
    flow: { kind: "rerun", ms: 1, context: "{}", maxRetries: null },
    sends: [{ kind: "sse", argument: `{"channel":"c","payload":1}`, at: 1 }],
    inputs: "{}",
    files: {
      removed: ["__proto__"],
      put: [
        { kind: "directory", path: "d", mode: 0o755, modifiedMs: 1 },
        { kind: "file", path: "d/f", bytes: 3, parts: [`${"0".repeat(32)}-3`], mode: 0o644, modifiedMs: 1.5 },
      ],
    },
  },
  durationMs: 1,
  cpuMs: 1,
};
const examples: readonly FromChild[] = [
  { kind: "ready" },
  { kind: "response", id: 1, response: { status: 200, headers: {}, body: "eA==", base64: true } },
  { kind: "paused", id: 1 },
  { kind: "executed", id: 1, execution },
  { kind: "executed", id: 2, execution: { outcome: "crashed", message: "x" } },
  {
    kind: "inspected",
    id: 1,
    inspection: {
      outcome: "read",
      definition: { name: "c", type: "source", props: [{ name: "p", type: "string" }], hooks: [], hasAdditionalProps: false },
      warnings: [],
    },
  },
  { kind: "pong", warm: { isolates: 1, sources: 2 }, evictions: 0 },
  { kind: "poisoned", reason: "x" },
  { kind: "open", id: 1, execution: 1, host: "example.com", port: 443 },
  { kind: "resolve", id: 2, execution: 1, query: "MX", name: "example.com" },
  {
    kind: "store",
    id: 3,
    execution: 1,
    prop: "store",
    index: 0,
    operation: { kind: "set", key: "a", value: "1", ttlSeconds: 5, ifVersion: 0 },
  },
  { kind: "file", id: 4, execution: 1, call: { kind: "list" } },
  { kind: "file", id: 5, execution: 1, call: { kind: "read", part: `${"0".repeat(32)}-3` } },
  { kind: "file", id: 6, execution: 1, call: { kind: "write", base64: "AAAA" } },
  { kind: "response", id: 1, response: { status: 200, headers: {}, body: "", isStreamed: true } },
  { kind: "body", id: 7, execution: 1, index: 0, base64: "AAAA", isLast: false },
  { kind: "cancel", id: 2 },
];

function read(bytes: Buffer): readonly FromChild[] {
  return [...new FrameReader(fromChildLimits).read(bytes)].map(parseFromChild);
}

describe("frames", () => {
  it("arrive whole and in order, however the bytes are cut", () => {
    const bytes = Buffer.concat(examples.map((example) => encodeFrame(fromChildLimits, example)));
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.byteLength)), (cuts) => {
        const reader = new FrameReader(fromChildLimits);
        const ends = [...cuts, bytes.byteLength].sort((a, b) => a - b);
        const messages = ends.flatMap((end, index) => [...reader.read(bytes.subarray(ends[index - 1] ?? 0, end))]).map(parseFromChild);
        expect(messages).toEqual(examples);
      }),
    );
  });

  it("take little more memory than their bytes when these come one by one", () => {
    const reader = new FrameReader(fromChildLimits);
    const before = process.memoryUsage().heapUsed;
    for (const byte of [0, 0, 0, 1, 3]) expect([...reader.read(Buffer.from([byte]))]).toEqual([]);
    const one = Buffer.from(" ");
    for (let n = 0; n < 1_000_000; n++) reader.read(one.subarray(0, 1)).next();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(80 * 2 ** 20);
  });

  it("keep a key __proto__", () => {
    const db = JSON.parse(`{"db":{"__proto__":"1"}}`) as Record<string, Record<string, string>>;
    const [message] = read(encodeFrame(fromChildLimits, { kind: "executed", id: 1, execution: { ...execution, db } } as FromChild));
    expect(JSON.stringify(message)).toContain(`"db":{"db":{"__proto__":"1"}}`);
  });

  it("are refused by their head if they are too large or of an unknown kind", () => {
    const head = (bytes: number, kind: number): Buffer => {
      const buffer = Buffer.alloc(5);
      buffer.writeUInt32LE(bytes, 0);
      buffer.writeUInt8(kind, 4);
      return buffer;
    };
    expect(() => read(head(2 ** 32 - 1, 3))).toThrow("a message 'executed' of 4294967295 bytes, 67108864 are allowed");
    expect(() => read(head(2_000, 0))).toThrow("a message 'ready' of 2000 bytes, 1024 are allowed");
    expect(() => read(head(0, 99))).toThrow("a message of the unknown kind 99");
  });
});

/** An operation on a data store. */
const storeCall = (operation: object, more: object = {}): object => ({
  kind: "store",
  id: 1,
  execution: 1,
  prop: "store",
  index: 0,
  operation,
  ...more,
});

/** Of the files of the run. */
const fileCall = (call: object, more: object = {}): object => ({ kind: "file", id: 1, execution: 1, call, ...more });

describe("a forged message", () => {
  const withFiles = (files: object): object => withExecution({ action: { ...execution.action, files } });
  const withExecution = (fields: object): object => ({ kind: "executed", id: 1, execution: { ...execution, ...fields } });
  const emit = (fields: object): object => withExecution({ emits: [{ payload: "1", at: 1, ...fields }] });
  it.each<[what: string, message: object, says: string | RegExp]>([
    ["a payload that would end the commit's JSON", emit({ payload: `1},{"forged":1` }), "emits.0.payload is invalid: must be JSON text"],
    ["a payload nested without end", emit({ payload: "[".repeat(100_000) }), /payload is invalid/],
    ["a reserved channel", emit({ name: "$errors" }), /name is invalid/],
    ["a time outside of the calendar", emit({ ts: 1e300 }), /ts is invalid/],
    ["an event of another source", emit({ source: "dc_other" }), /Unrecognized key/],
    ["ten thousand and one events", withExecution({ emits: Array.from({ length: 10_001 }, () => ({ payload: "1", at: 1 })) }), /emits/],
    ["a db value that is no JSON", withExecution({ db: { db: { key: "{" } } }), /db is invalid/],
    ["a status below 200", withExecution({ response: { status: 100, headers: {}, body: "" } }), /response.status is invalid/],
    ["an unknown outcome", { kind: "executed", id: 1, execution: { outcome: "won" } }, /outcome is invalid/],
    ["a connection to the port 0", { kind: "open", id: 1, execution: 1, host: "a", port: 0 }, /port is invalid/],
    ["a connection on another owner's behalf", { kind: "open", id: 1, execution: 1, host: "a", port: 1, owner: "u_2" }, /Unrecognized key/],
    ["a host of 2,000 characters", { kind: "open", id: 1, execution: 1, host: "a".repeat(2_000), port: 1 }, /host is invalid/],
    ["an unknown query", { kind: "resolve", id: 1, execution: 1, query: "ANY", name: "a" }, /query is invalid/],
    ["a store that it chooses itself", storeCall({ kind: "clear" }, { store: "ds_other" }), /Unrecognized key/],
    ["an operation that stores do not have", storeCall({ kind: "drop" }), /operation.kind is invalid/],
    ["a value over a megabyte", storeCall({ kind: "set", key: "a", value: "x".repeat(2 ** 20 + 1) }), /operation.value is invalid/],
    ["a value that is no JSON", storeCall({ kind: "set", key: "a", value: "{" }), /operation.value is invalid/],
    ["an empty key", storeCall({ kind: "get", key: "" }), /operation.key is invalid/],
    ["a negative number of an operation", storeCall({ kind: "clear" }, { index: -1 }), /index is invalid/],
    ["files of another run", fileCall({ kind: "list" }, { run: "r_2" }), /Unrecognized key/],
    ["a part that would be another subject", fileCall({ kind: "read", part: "u_2.>" }), /part is invalid/],
    ["an operation that files do not have", fileCall({ kind: "delete" }), /call.kind is invalid/],
    ["a part that is too large", fileCall({ kind: "write", base64: "A".repeat(700_000) }), /base64 is invalid/],
    ["changes above /tmp", withFiles({ removed: ["../x"], put: [] }), /removed.0 is invalid/],
    [
      "a file larger than its parts",
      withFiles({ removed: [], put: [{ kind: "file", path: "a", bytes: 9, parts: [], mode: 0, modifiedMs: 0 }] }),
      /put.0 is invalid/,
    ],
    [
      "a listing that is too long",
      withFiles({ removed: Array.from({ length: 2_000 }, (_, n) => "x".repeat(250) + n), put: [] }),
      /files is invalid: is longer/,
    ],
    ["an id that is a text", { kind: "paused", id: "1" }, /id is invalid/],
    ["a negative count", { kind: "pong", warm: { isolates: -1, sources: 0 }, evictions: 0 }, /isolates is invalid/],
    ["a result of twelve megabytes", withExecution({ result: `[${"{},".repeat(4_000_000)}1]` }), /result is invalid/],
    [
      "results that are too large together",
      withExecution({ db: { db: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [n, `"${"x".repeat(2 ** 20)}"`])) } }),
      /db is invalid/,
    ],
    ["a message of a million values", withExecution({ emits: Array(1_000_001).fill(1) }), /more than 1000000 values/],
    [
      "a message nested without end",
      { kind: "poisoned", reason: JSON.parse(`${"[".repeat(2_000)}${"]".repeat(2_000)}`) },
      /nested more than/,
    ],
  ])("is refused: %s", (_, message, says) => {
    expect(() => read(encodeFrame(fromChildLimits, message as FromChild))).toThrow(says);
  });
});

it("what only a child sends that is debugged is refused of any other, before its bytes are kept", () => {
  for (const message of [
    { kind: "debug", message: "x".repeat(2 ** 20) },
    { kind: "log", record: { k: "log", msg: "x", ts: 1 } },
  ] as const)
    expect(() => read(encodeFrame(debuggedChildLimits, message as FromChild).subarray(0, 5))).toThrow(ProtocolViolation);
});

describe("mutated messages", () => {
  it("are read or refused, and leave nothing behind", () => {
    const frames = examples.map((message) => encodeFrame(fromChildLimits, message));
    const mutation = fc.record({
      frame: fc.constantFrom(...frames),
      edits: fc.array(fc.tuple(fc.nat(), fc.constantFrom("flip", "cut", "repeat", "insert"), fc.nat(255)), { minLength: 1, maxLength: 4 }),
    });
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void; // The flag defines it in contexts that are created later.
    let refused = 0;
    collect();
    const before = process.memoryUsage().heapUsed + process.memoryUsage().external;
    fc.assert(
      fc.property(mutation, ({ frame, edits }) => {
        const mutated = edits.reduce((bytes, [at, how, value]) => mutate(bytes, at % (bytes.byteLength + 1), how, value), frame);
        try {
          for (const { kind } of read(mutated)) expect(Object.keys(fromChildLimits)).toContain(kind);
        } catch (error) {
          if (!(error instanceof ProtocolViolation)) throw error;
          refused += 1;
        }
      }),
      { numRuns: 5_000 },
    );
    collect();
    expect(refused).toBeGreaterThan(1_000);
    expect(process.memoryUsage().heapUsed + process.memoryUsage().external - before).toBeLessThan(10 * 2 ** 20);
  });
});

function mutate(bytes: Buffer, at: number, how: string, value: number): Buffer {
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (how) {
    case "cut":
      return Buffer.concat([head, tail.subarray(value)]);
    case "repeat":
      return Buffer.concat([bytes, head]);
    case "insert":
      return Buffer.concat([head, Buffer.from([value]), tail]);
    default: {
      const flipped = Buffer.from(bytes);
      if (at < flipped.byteLength) flipped[at] = value;
      return flipped;
    }
  }
}

/** A program that is a child until it has an execution; then it sends what the attacker wants. `ID` is that of the execution. */
const hostileProgram = (answer: string): string => `
import { lookup } from "node:dns";
import { Socket } from "node:net";
const channel = new Socket({ fd: 3 });
const kinds = ${JSON.stringify(Object.keys(fromChildLimits))};
const frame = (kind, fields) => {
  const text = Buffer.from(JSON.stringify(fields));
  const head = Buffer.alloc(5);
  head.writeUInt32LE(text.byteLength, 0);
  head.writeUInt8(kinds.indexOf(kind), 4);
  return Buffer.concat([head, text]);
};
const execution = ${JSON.stringify(execution)};
channel.write(frame("ready", {}));
channel.on("data", (bytes) => {
  if (!bytes.includes('"request"')) return;
  const ID = 1;
  for (const each of ${answer}) channel.write(each);
});
/** libuv starts all threads of its pool at once. */
function startThreads() {
  process.env.UV_THREADPOOL_SIZE = "600";
  lookup("localhost", () => {});
}
/** As many as its owner's rate permits at once, and more. */
function askWithoutEnd(request) {
  let id = 0;
  setInterval(() => { for (const end = id + 100; id < end; ) channel.write(request(++id)); }, 20);
}
setInterval(() => {}, 1000);
`;

describe("a child that an attacker controls", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "headwater-hostile-"));
  });
  afterAll(() => rm(directory, { recursive: true }));

  let programs = 0;
  const performed: StoreRequest[] = [];
  const filesAsked: unknown[] = [];
  const runFiles: RunFiles = {
    list: async (...call) => {
      filesAsked.push(["list", ...call]);
      return [];
    },
    read: (...call) => {
      filesAsked.push(["read", ...call]);
      return new Promise(() => {});
    },
    copy: async (...call) => void filesAsked.push(["copy", ...call]),
    write: async (run, bytes) => {
      filesAsked.push(["write", run, bytes.length]);
      return `${"0".repeat(32)}-${bytes.length}`;
    },
  };
  const neverAnswering: DataStores = {
    perform: (request) => {
      performed.push(request);
      return new Promise(() => {});
    },
  };
  const silent: EgressPolicy = { allow: [], resolve: () => new Promise(() => {}) };
  async function startHostile(answer: string, egress = silent): Promise<{ readonly child: SandboxChild; readonly lost: Promise<string> }> {
    programs += 1;
    const script = join(directory, `${programs}.mjs`);
    await writeFile(script, hostileProgram(answer));
    const { promise: lost, resolve: onLost } = Promise.withResolvers<string>();
    const child = new SandboxChild({
      processes: localProcesses,
      command: () => isolateCommand(script, [directory]),
      child: { webPath: "", nodePath: "", memoryBudgetBytes: 2 ** 28, timeLimits },
      connector: new Connector(egress, 4),
      dataStores: neverAnswering,
      runFiles,
      residentLimitBytes: 2 ** 31,
      onStderr: () => {},
      onEvictions: () => {},
      onReady: () => {},
      onLost,
      onExit: () => {},
      isLowPriority: false,
    });
    onTestFinished(() => child.kill());
    await child.ready;
    return { child, lost };
  }
  const bundle = { hash: "0", path: "/nowhere", needsNode: false };
  const stores = { byProp: { store: "ds_own" }, run: "r_1" };
  const files = { workflow: "p_own", run: "r_own", layers: ["layer"] };
  const pong = `frame("pong", { warm: { isolates: 0, sources: 0 }, evictions: 0 })`;
  const honest = `[frame("executed", { id: ID, execution })]`;

  it("answers for its own executions as long as it keeps to the protocol", async () => {
    const { child } = await startHostile(honest);
    expect(await child.execute(requestFor(bundle), false, { onResponse: undefined, onPause: undefined })).toEqual(execution);
  });

  it.each<[what: string, answer: string, reason: RegExp]>([
    ["says that it is ready again", `[frame("ready", {})]`, /a message 'ready' that nothing waits for/],
    ["answers for an execution that it does not have", `[frame("executed", { id: 2, execution })]`, /'executed' that nothing waits for/],
    [
      "answers with an inspection",
      `[frame("inspected", { id: ID, inspection: { outcome: "rejected", code: "x", message: "x" } })]`,
      /'inspected' that nothing/,
    ],
    [
      "responds to a caller that does not wait",
      `[frame("response", { id: ID, response: execution.response })]`,
      /'response' that nothing waits for/,
    ],
    [
      "opens a connection for an execution that it does not have",
      `[frame("open", { id: 1, execution: 2, host: "127.0.0.1", port: 1 })]`,
      /'open' that nothing/,
    ],
    [
      "resolves a name for an execution that it does not have",
      `[frame("resolve", { id: 1, execution: 7, query: "A", name: "a.example.com" })]`,
      /that nothing/,
    ],
    [
      "uses the number of a request twice",
      `Array(2).fill(frame("open", { id: 1, execution: ID, host: "slow.example.com", port: 1 }))`,
      /'open' whose number 1 is in use/,
    ],
    [
      "has more than 512 requests unanswered",
      `Array.from({ length: 513 }, (_, index) => frame("open", { id: index + 1, execution: ID, host: "slow.example.com", port: 1 }))`,
      /more than 512 requests for names and connections/,
    ],
    [
      "has more than 32 requests to data stores unanswered",
      `Array.from({ length: 33 }, (_, index) => frame("store", { id: index + 1, execution: ID, prop: "store", index, operation: { kind: "size" } }))`,
      /more than 32 requests to data stores/,
    ],
    [
      "asks for a store for an execution that it does not have",
      `[frame("store", { id: 1, execution: 7, prop: "store", index: 0, operation: { kind: "size" } })]`,
      /that nothing/,
    ],
    [
      "has more than 16 requests to files unanswered",
      `Array.from({ length: 17 }, (_, index) => frame("file", { id: index + 1, execution: ID, call: { kind: "read", part: "${"0".repeat(32)}-3" } }))`,
      /more than 16 requests to files/,
    ],
    [
      "asks for files for an execution that it does not have",
      `[frame("file", { id: 1, execution: 7, call: { kind: "list" } })]`,
      /that nothing/,
    ],
    ["answers a ping that was not sent", `Array(64).fill(${pong})`, /'pong' that/],
    ["pauses twice", `Array(2).fill(frame("paused", { id: ID }))`, /a message 'paused' that nothing waits for/],
    ["is poisoned twice", `Array(2).fill(frame("poisoned", { reason: "x" }))`, /'poisoned' that nothing waits for|^x$/],
    ["cancels what it has not asked for", `[frame("cancel", { id: 9 })]`, /a message 'cancel' that nothing waits for/],
    [
      "cancels twice",
      `[frame("open", { id: 9, execution: ID, host: "slow.example.com", port: 1 }), frame("cancel", { id: 9 }), frame("cancel", { id: 9 })]`,
      /'cancel' that nothing/,
    ],
    ["sends code caches", `[frame("ready", { caches: { web: "", node: "" } })]`, /Unrecognized key/],
    ["begins a frame of four gigabytes", `[Buffer.from([255, 255, 255, 255, 3])]`, /of 4294967295 bytes/],
    ["sends what is no frame", `[Buffer.from("GET / HTTP/1.1\\r\\n\\r\\n")]`, /unknown kind/],
  ])("is killed, and its execution counts as crashed, when it %s", async (_, answer, reason) => {
    const { child, lost } = await startHostile(answer);
    const outcome = await child.execute(requestFor(bundle, { stores, files }), false, { onResponse: undefined, onPause: undefined });
    expect(outcome).toMatchObject({ outcome: "crashed", message: expect.stringMatching(reason) });
    expect(await lost).toMatch(reason);
  });

  it("reaches the store of a prop of its own execution, and no other", async () => {
    const call = (id: number, prop: string): string =>
      `frame("store", { id: ${id}, execution: ID, prop: ${JSON.stringify(prop)}, index: 0, operation: { kind: "clear" } })`;
    const answer = `[${call(1, "other")}, ${call(2, "__proto__")}, ${call(3, "store")}, frame("executed", { id: ID, execution })]`;
    const { child } = await startHostile(answer);
    performed.length = 0;
    await child.execute(requestFor(bundle, { owner: "u_own", stores }), false, { onResponse: undefined, onPause: undefined });
    expect(performed).toEqual([
      { owner: "u_own", store: "ds_own", operation: { kind: "clear" }, operationId: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
  });

  it("reaches the files of the run of its own execution, and stores no more than a run may have", async () => {
    const call = (id: string, what: string): string => `frame("file", { id: ${id}, execution: ID, call: ${what} })`;
    const write = `{ kind: "write", base64: Buffer.alloc(2 ** 19).toString("base64") }`;
    // One after the other, and it answers pings in between, so that it is not taken for one that hangs.
    const answer = `(() => {
      let id = 0; let text = "";
      channel.on("data", (bytes) => {
        text = (text + bytes.toString("latin1")).slice(-2_000);
        if (text.includes("files in all")) { text = ""; channel.write(${call("++id", `{ kind: "list" }`)}); channel.write(frame("executed", { id: ID, execution })); return; }
        const count = (what) => bytes.toString("latin1").split(what).length - 1;
        for (let n = count(/\\x02\\0\\0\\0.\\{\\}/s); n > 0; n--) channel.write(${pong});
        for (let n = count('"result"'); n > 0; n--) channel.write(${call("++id", write)});
      });
      return [${call("++id", write)}];
    })()`;
    const { child } = await startHostile(answer);
    filesAsked.length = 0;
    expect(
      await child.execute(requestFor(bundle, { owner: "u_own", files }), false, { onResponse: undefined, onPause: undefined }),
    ).toEqual(execution);
    const run = { owner: "u_own", workflow: "p_own", run: "r_own" };
    expect(filesAsked).toHaveLength(1_025);
    expect(filesAsked[0]).toEqual(["write", run, 2 ** 19]);
    expect(filesAsked.at(-1)).toEqual(["list", run, ["layer"]]);
  });

  it("reaches no files for an execution without them", async () => {
    const answer = `[frame("file", { id: 1, execution: ID, call: { kind: "list" } }), frame("executed", { id: ID, execution })]`;
    const { child } = await startHostile(answer);
    filesAsked.length = 0;
    await child.execute(requestFor(bundle), false, { onResponse: undefined, onPause: undefined });
    expect(filesAsked).toEqual([]);
  });

  it("cannot answer for an execution in flight in another child, whatever its number", async () => {
    const listeners = { onResponse: undefined, onPause: undefined };
    const victim = await startHostile("[]");
    const runs = [1, 2, 3].map(() => victim.child.execute(requestFor(bundle, { owner: "u_victim" }), false, listeners));
    const attacker = await startHostile(`[frame("executed", { id: 3, execution })]`);
    const outcome = await attacker.child.execute(requestFor(bundle, { owner: "u_attacker" }), false, listeners);
    expect(outcome).toMatchObject({ outcome: "crashed", message: expect.stringMatching(/'executed' that nothing waits for/) });
    expect(victim.child.isLost).toBe(false);
    victim.child.kill();
    for (const run of await Promise.all(runs)) expect(run).toMatchObject({ outcome: "crashed" });
  });

  it.runIf(process.platform === "linux")("is killed when it starts threads without end", async () => {
    const { child, lost } = await startHostile(`(startThreads(), [])`);
    const outcome = await child.execute(requestFor(bundle), false, { onResponse: undefined, onPause: undefined });
    expect(outcome).toMatchObject({ outcome: "crashed", message: expect.stringMatching(/too many threads \(\d{3,4}\)/) });
    expect(await lost).toMatch(/too many threads \(\d{3,4}\)/);
  });

  it("loses the connections that it did not take when it ends", async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      if (sockets.size === connections) allOpen();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    // More than the channel of descriptors holds.
    const connections = 400;
    const { promise: opened, resolve: allOpen } = Promise.withResolvers<void>();
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { child } = await startHostile(
      `Array.from({ length: ${connections} }, (_, index) => frame("open", { id: index + 1, execution: ID, host: "127.0.0.1", port: ${port} }))`,
      createEgress({ allow: ["127.0.0.1/32"] }),
    );
    const outcome = child.execute(requestFor(bundle), false, { onResponse: undefined, onPause: undefined });
    await opened;
    const closed = [...sockets].map((socket) => once(socket.resume(), "close"));
    child.kill();
    expect(await outcome).toMatchObject({ outcome: "crashed" });
    await Promise.all(closed);
  });

  it("gets no connection for an execution that has ended", async () => {
    const accepted: Socket[] = [];
    const server = createServer((socket) => void accepted.push(socket.on("error", () => {}))).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const open = (id: number): string => `frame("open", { id: ${id}, execution: ID, host: "127.0.0.1", port: ${port} })`;
    const answer = `[Buffer.concat([${open(1)}, ${open(2)}, frame("executed", { id: ID, execution })])]`;
    const { child } = await startHostile(answer, createEgress({ allow: ["127.0.0.1/32"] }));
    expect(await child.execute(requestFor(bundle), false, { onResponse: undefined, onPause: undefined })).toEqual(execution);
    // The server accepts in order: when it has the second, it has whatever the child had opened.
    const own: Socket[] = [];
    for (let n = 0; n < 2; n++) {
      const socket = connect(port, "127.0.0.1");
      own.push(socket);
      onTestFinished(() => void socket.destroy());
      await once(socket, "connect");
    }
    await until(() => accepted.some(({ remotePort }) => remotePort === own[1]?.localPort), "the server accepts");
    expect(accepted.map(({ remotePort }) => remotePort)).toEqual(own.map(({ localPort }) => localPort));
  });

  it("may cancel what it has asked for", async () => {
    const open = `frame("open", { id: 9, execution: ID, host: "slow.example.com", port: 1 })`;
    const { child } = await startHostile(`[${open}, frame("cancel", { id: 9 }), frame("executed", { id: ID, execution })]`);
    expect(await child.execute(requestFor(bundle), false, { onResponse: undefined, onPause: undefined })).toEqual(execution);
  });

  it("is killed when it asks for more than it reads", async () => {
    const asked: string[] = [];
    const egress = {
      allow: [],
      resolve: async (host: string) => {
        asked.push(host);
        throw new Error("x".repeat(4_000));
      },
    };
    const { child, lost } = await startHostile(
      `(channel.pause(), askWithoutEnd((id) => frame("resolve", { id, execution: ID, query: "lookup", name: "127.0.0.1" })), [])`,
      egress,
    );
    void child.execute(requestFor(bundle), false, { onResponse: undefined, onPause: undefined });
    expect(await lost).toMatch(/more than 512 requests for names and connections/);
    expect(asked.length).toBeLessThan(1_000);
  });

  it("is killed when it answers twice", async () => {
    const { child, lost } = await startHostile(`[frame("executed", { id: ID, execution }), frame("executed", { id: ID, execution })]`);
    expect(await child.execute(requestFor(bundle), false, { onResponse: undefined, onPause: undefined })).toEqual(execution);
    expect(await lost).toMatch(/'executed' that nothing waits for/);
  });
});
