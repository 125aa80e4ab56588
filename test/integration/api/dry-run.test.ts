import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SourceTests } from "../../../api/runs/ports.ts";
import { sourceKind } from "../../../crds/source.ts";
import { AdmissionGate, defaultBacklogLimits } from "../../../domain/limits/admission.ts";
import { systemClock } from "../../../domain/clock.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";
import { NotFound } from "../../../domain/errors.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { defaultPool, deploymentKey, partitionCount, runSubject, streams } from "../../../domain/subjects.ts";
import { RunAnswers } from "../../../platform/jetstream/requests/run-answers.ts";
import { deploymentEntries } from "../../../platform/jetstream/invocations/moves.ts";
import { startRunner, type Runner } from "../../../runner/start.ts";
import { createManualRuns } from "../../../platform/jetstream/invocations/manual-runs.ts";
import { createRunnerPorts } from "../../../platform/jetstream/invocations/runner-ports.ts";
import { deployment as anyDeployment } from "../../runner/support.ts";
import { startSandbox, type SandboxFixture } from "../../sandbox/sandbox-fixture.ts";
import { acme, ada, keys, withApi } from "./support.ts";
import { commitOf } from "./streams-support.ts";
import { committedEvent as event } from "../committed-event.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";

/** Runs that leave nothing, and runs of past events: API, stream, runner and isolates are real. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
let answers: RunAnswers;
let admission = new AdmissionGate(defaultBacklogLimits);
const runs = () => createManualRuns(nats.connection, answers, admission);
let sealDraft: SourceTests["seal"];
const api = withApi(
  { runTimeoutMs: 200_000 },
  {
    sourceTests: { seal: (request) => sealDraft(request) },
    runs: {
      run: (request, signal) => runs().run(request, signal),
      dryRun: (request) => runs().dryRun(request),
      control: async () => undefined,
      backfill: async () => undefined,
    },
  },
);
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const paths = new Map<string, string>();
let fixture: SandboxFixture;
let runner: Runner | undefined;
let seq = 0;

beforeAll(async () => {
  fixture = await startSandbox({ timeLimits: { entryMs: 2_000 } });
  answers = new RunAnswers(nats.connection);
  answers.start();
});
afterEach(async () => {
  await runner?.stop(AbortSignal.timeout(1_000));
  runner = undefined;
});
afterAll(async () => {
  answers.stop();
  await fixture.stop();
});

async function wakeRunner(): Promise<void> {
  runner = await startRunner(
    { runner: `r${randomBytes(4).toString("hex")}`, pool: defaultPool, runTimeoutMs: 100_000, memoryMb: 128, stateCacheBytes: 2 ** 20 },
    {
      ...createRunnerPorts(nats.connection, defaultPool),
      sandbox: { ...fixture.sandbox, stop: async () => undefined },
      bundles: {
        path: async (hash) => {
          const path = paths.get(hash);
          if (path === undefined) throw new NotFound(`bundle ${hash} does not exist`);
          return path;
        },
      },
      stacks: { map: async (_bundle, stack) => stack },
      secrets: { open: async (sealed) => sealed },
      clock: systemClock,
      randomId: () => randomBytes(10).toString("hex"),
      log: silent,
    },
  );
}

/** A source of the API, deployed as the operator would: its code is what the runner runs. */
async function deploy(code: string, given: Partial<Deployment> = {}, query = ""): Promise<string> {
  const { id } = (await api.ask("POST", `/v1/sources${query}`, { body: { component_code: "name: Dry" } })).body.data;
  const bundle = await fixture.bundle(code);
  paths.set(bundle.hash, bundle.path);
  const found = await api.store.findById(sourceKind, id);
  const entry = { ...anyDeployment, source: id, owner: ada.id, bundle: bundle.hash, needsNode: bundle.needsNode, ...given };
  await deploymentEntries(nats.connection).put(deploymentKey(defaultPool, id), { ...entry, generation: found?.metadata.generation ?? 0 });
  return id;
}

const ask = (source: string, body: object, key: string = keys.ada) => api.ask("POST", `/v1/sources/${source}/runs`, { key, body });
const dry = (source: string, body: object = {}) => ask(source, { ...body, dry_run: true });

async function lastCommit(source: string): Promise<{ readonly seq: number; readonly db: unknown; readonly dedupe: unknown } | undefined> {
  const subject = runSubject(partitionOf(source), ada.id, source);
  const found = await nats.connection.manager.streams.getMessage(streams.runs, { last_by_subj: subject });
  if (found === null) return undefined;
  const { state } = found.json<{ state: { db: unknown; dedupe: unknown } }>();
  return { seq: found.seq, db: state.db, dedupe: state.dedupe };
}

const counting = `
let calls = 0;
export default {
  name: "c", dedupe: "unique", props: { db: "$.service.db", http: { type: "$.interface.http", customResponse: true } },
  run(event) {
    calls++;
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.db.set("gone", undefined);
    console.log("run", n);
    if (event?.respond) this.http.respond({ status: 201, headers: { "x-n": String(n) }, body: "made" });
    for (const id of event?.ids ?? []) this.$emit({ n, id }, { id, summary: "item " + id, ts: 1000 + id });
    if (event?.unnamed) this.$emit({ unnamed: true });
    if (event?.throws) throw new RangeError(event.throws);
    return { calls, n };
  },
};`;

describe("a dry run", () => {
  test("returns events, duplicates, db writes, log, response and result", async () => {
    await wakeRunner();
    const source = await deploy(counting, { dedupe: "unique" });
    expect((await ask(source, { event: { ids: [1, 2] } })).body.data).toMatchObject({ status: "succeeded", result: { calls: 1, n: 1 } });
    const { status, body } = await dry(source, { event: { ids: [3, 2], unnamed: true, respond: true } });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^r_/),
      source_id: source,
      dry_run: true,
      status: "failed",
      trigger: "manual",
      started_at: expect.any(Number),
      started_at_ms: expect.any(Number),
      duration_ms: expect.any(Number),
      cpu_ms: expect.any(Number),
      emits: [
        { verdict: "duplicate", id: "2", name: "", summary: "item 2", ts: 1002, event: { n: 2, id: 2 } },
        { verdict: "emitted", id: "3", name: "", summary: "item 3", ts: 1003, event: { n: 2, id: 3 } },
        { verdict: "refused", id: null, name: "", summary: null, ts: expect.any(Number), event: { unnamed: true } },
      ],
      db_writes: [
        { prop: "db", key: "n", value: 2 },
        { prop: "db", key: "gone", deleted: true },
      ],
      response: { status: 201, headers: { "x-n": "2" }, body: "made" },
      logs: [
        { k: "console.log", ts: expect.any(Number), msg: "run 2" },
        { k: "error", ts: expect.any(Number), err: expect.objectContaining({ code: "emit_without_id" }) },
      ],
      error: expect.objectContaining({ code: "emit_without_id" }),
      result: { calls: 1, n: 2 },
    });
  });

  test("stores nothing: no commit, no db, no dedupe state, no module state", async () => {
    await wakeRunner();
    const source = await deploy(counting, { dedupe: "unique" });
    await ask(source, { event: { ids: [1] } });
    const before = await lastCommit(source);
    for (let n = 0; n < 3; n++) expect((await dry(source, { event: { ids: [7] } })).body.data.emits[0].verdict).toBe("emitted");
    expect(await lastCommit(source)).toEqual(before);
    const { data } = (await ask(source, { event: { ids: [7] } })).body;
    expect([data.result, data.event_ids.length]).toEqual([{ calls: 2, n: 2 }, 1]);
    expect((await dry(source, { event: { ids: [7] } })).body.data.emits[0].verdict).toBe("duplicate");
  });

  test("of code that throws returns the error and the events before it", async () => {
    await wakeRunner();
    const source = await deploy(counting);
    const { status, body } = await dry(source, { event: { ids: [1], throws: "too far" } });
    expect([status, body.data.status]).toEqual([200, "failed"]);
    expect(body.data.error).toMatchObject({ name: "RangeError", message: "too far" });
    expect(body.data.emits).toMatchObject([{ verdict: "emitted", id: "1" }]);
    expect(body.data.result).toBeNull();
  });

  test("does not wait for other runs of its source", async () => {
    await wakeRunner();
    const slow = `export default { name: "s", run: (event) => event.ms === undefined ? "quick" : new Promise((r) => setTimeout(r, event.ms, "slow")) };`;
    const source = await deploy(slow);
    const ended: string[] = [];
    const run = ask(source, { event: { ms: 8_000 } }).then(({ body }) => ended.push(body.data.result));
    expect((await dry(source, { event: {} })).body.data.result).toBe("quick");
    expect(ended).toEqual([]);
    await run;
    expect(ended).toEqual(["slow"]);
  });

  test("has the limits of a run and of one message", async () => {
    await wakeRunner();
    const endless = await deploy(`export default { name: "e", run() { for (;;); } };`);
    expect((await dry(endless)).body.data).toMatchObject({ status: "failed", error: { code: "cpu_limit" }, emits: [] });
    const large = await deploy(`export default { name: "l", run() { for (let n = 0; n < 20; n++) this.$emit("x".repeat(60_000)); } };`);
    expect((await dry(large)).body.data).toMatchObject({ status: "failed", error: { code: "dry_run_too_large" }, emits: [] });
  });

  test("of an inactive source is refused, like a run", async () => {
    const { id } = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Off", active: false } })).body.data;
    expect((await dry(id)).body.code).toBe("source_inactive");
  });
});

describe("a test of a source that is not deployed", () => {
  /** The component of the API, as the operator would seal it: its code is what the runner runs. */
  const drafts = new Map<string, Partial<Deployment>>();
  sealDraft = async ({ tested, props }) => ({ ...anyDeployment, source: tested, id: tested, owner: ada.id, props, ...drafts.get(tested) });
  async function component(code: string, about = "name: Draft; props: http count token"): Promise<string> {
    const { id } = (await api.ask("POST", "/v1/components", { body: { component_code: `${about}; n: ${++seq}` } })).body.data;
    const bundle = await fixture.bundle(code);
    paths.set(bundle.hash, bundle.path);
    drafts.set(id.replace("_", "-"), { bundle: bundle.hash, needsNode: bundle.needsNode, secrets: null, dedupe: "unique" });
    return id;
  }
  const run = (body: object, key: string = keys.ada) => api.ask("POST", "/v1/sources/test", { key, body });

  test("returns what its first run would emit and store, each time without state", async () => {
    await wakeRunner();
    const id = await component(counting);
    for (let round = 0; round < 2; round++) {
      const { status, body } = await run({ component_id: id, configured_props: { token: "t" }, event: { ids: [1, 1] } });
      expect([status, body.data]).toEqual([
        200,
        expect.objectContaining({
          component_id: id,
          dry_run: true,
          status: "succeeded",
          emits: [expect.objectContaining({ verdict: "emitted", id: "1" }), expect.objectContaining({ verdict: "duplicate", id: "1" })],
          db_writes: expect.arrayContaining([{ prop: "db", key: "n", value: 1 }]),
          result: { calls: 1, n: 1 },
        }),
      ]);
    }
    expect((await api.ask("GET", "/v1/users/me/sources?limit=100")).text).not.toContain("Draft");
  });

  test("runs with the event of its trigger, which says that it is a test, and returns what the code throws", async () => {
    await wakeRunner();
    const echo = await component(
      `export default { name: "e", run(event) { this.$emit(event, { id: 1 }); throw new Error("at the end"); } };`,
    );
    const { body } = await run({ component_id: echo, configured_props: { token: "t" } });
    expect(body.data).toMatchObject({
      status: "failed",
      error: { message: "at the end" },
      emits: [{ event: { method: "GET", test: true } }],
    });
  });

  test("is refused like a deployment: for an action, missing or wrong props, and what another owner has", async () => {
    const id = await component(counting);
    const answer = async (body: object, key?: string) => {
      const { status, body: answered } = await run(body, key);
      return [status, answered.code];
    };
    expect(await answer({ component_id: id })).toEqual([422, "invalid_props"]);
    expect(await answer({ component_id: id, configured_props: { token: "t", count: 0 } })).toEqual([422, "invalid_props"]);
    expect(await answer({ component_id: id, configured_props: { token: "t" } }, keys.bob)).toEqual([404, "not_found"]);
    expect(await answer({})).toEqual([422, "component_missing"]);
    expect(await answer({ component_code: "type: action; name: Act" })).toEqual([422, "not_a_source"]);
  });
});

describe("a run with a stored event", () => {
  const echo = `export default { name: "e", run: (event) => ({ got: event }) };`;
  const emitted = async (source: string, id: string) =>
    api.history.recordCommits("TEST", [{ seq: ++seq, commit: commitOf(source, ada.id, [event(id, { payload: `{"past":"${id}"}` })]) }]);

  test("receives the event of the source or of another visible source", async () => {
    await wakeRunner();
    const [source, other] = [await deploy(echo), await deploy(echo, {}, `?org_id=${acme.id}`)];
    await emitted(source, "1-0");
    await emitted(other, "2-0");
    expect((await ask(source, { event_id: "1-0" })).body.data.result).toEqual({ got: { past: "1-0" } });
    expect((await ask(source, { event_id: "2-0", emitter_id: other })).body.data.result).toEqual({ got: { past: "2-0" } });
    expect((await dry(source, { event_id: "2-0", emitter_id: other })).body.data.result).toEqual({ got: { past: "2-0" } });
  });

  test("is refused for an unknown event, a foreign event, and two events", async () => {
    const source = await deploy(echo);
    await emitted(source, "3-0");
    const theirs = (await api.ask("POST", "/v1/sources", { key: keys.bob, body: { component_code: "name: Theirs" } })).body.data.id;
    await emitted(theirs, "4-0");
    const answer = async (body: object) => {
      const { status, body: answered } = await ask(source, body);
      return [status, answered.code];
    };
    expect(await answer({ event_id: "9-9" })).toEqual([404, "event_not_found"]);
    expect(await answer({ event_id: "4-0", emitter_id: theirs })).toEqual([404, "not_found"]);
    expect(await answer({ event_id: "3-0", event: {} })).toEqual([422, "invalid_input"]);
    expect(await answer({ event_id: "3" })).toEqual([422, "invalid_input"]);
    expect(await answer({ emitter_id: theirs })).toEqual([422, "invalid_input"]);
    expect(await answer({ dry_run: "maybe" })).toEqual([422, "invalid_input"]);
  });
});

test("refuses a run while the source's backlog is full, and accepts it afterwards", async () => {
  admission = new AdmissionGate({ ...defaultBacklogLimits, sourceInvocations: 1 });
  const source = await deploy(counting);
  const { streams: info } = nats.connection.manager;
  const stored = async () => (await info.info(streams.invocations)).state.last_seq;
  const before = await stored();
  const first = ask(source, { event: {} });
  await until(async () => (await stored()) > before, "the first run is stored");
  for (const refused of [await ask(source, { event: {} }), await dry(source)]) {
    expect([refused.status, refused.body.code]).toEqual([429, "backlog_full"]);
    expect(refused.headers.get("retry-after")).toBe("1");
  }
  await wakeRunner();
  expect((await first).body.data).toMatchObject({ status: "succeeded", result: { n: 1 } });
  admission.update(defaultPool, "r1", { partitions: [partitionOf(source)], sources: [], owners: [] }, performance.now());
  expect((await ask(source, { event: {} })).body.data).toMatchObject({ status: "succeeded", result: { n: 2 } });
  admission = new AdmissionGate(defaultBacklogLimits);
});

describe("a dry run that no runner starts", () => {
  const waiting = withApi(
    { runTimeoutMs: 300 },
    {
      runs: {
        run: async () => ({ ended: Promise.resolve(undefined) }),
        dryRun: (request) => runs().dryRun(request),
        control: async () => undefined,
        backfill: async () => undefined,
      },
    },
  );

  test("returns 504", async () => {
    const { id } = (await waiting.ask("POST", "/v1/sources", { body: { component_code: "name: Sleeping" } })).body.data;
    const { status, body } = await waiting.ask("POST", `/v1/sources/${id}/runs`, { body: { dry_run: true } });
    expect([status, body.code]).toEqual([504, "dry_run_timeout"]);
  });

  test("is not run when a runner starts later", async () => {
    const called: string[] = [];
    const server = createServer((request, response) => {
      called.push(request.url ?? "");
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // Listening on TCP.
    const source = await deploy(`export default { name: "f", async run(event) { await fetch("http://127.0.0.1:${port}/" + event); } };`);
    const request = { run: "r_late", source, owner: ada.id, pool: defaultPool, generation: 0, event: "late", timeoutMs: 100 };
    expect(await (await runs().dryRun(request)).outcome).toBeUndefined();
    await wakeRunner();
    expect((await dry(source, { event: "now" })).body.data.error).toBeNull();
    const left = async () => (await nats.connection.manager.streams.info(streams.invocations)).state.messages;
    await until(async () => (await left()) === 0, "nothing is left in the stream");
    expect(called).toEqual(["/now"]);
    server.closeAllConnections();
    server.close();
  });
});
