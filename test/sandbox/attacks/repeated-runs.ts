import { afterAll, beforeAll, expect } from "vitest";
import type { Commit } from "../../../domain/run/commit.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";
import type { Answer, Invocation } from "../../../domain/invocation/invocation.ts";
import { SourceCommits } from "../../../runner/commit/source-commits.ts";
import type { RunnerPorts } from "../../../runner/ports.ts";
import { runInvocation, type RunOutcome } from "../../../runner/run/run.ts";
import { deployment } from "../../runner/support.ts";
import { patientMs, type SandboxFixture, startSandbox } from "../sandbox-fixture.ts";

const config = { runner: "r1", pool: "default", runTimeoutMs: patientMs, memoryMb: 32, stateCacheBytes: 1e6 };

/** One source with its commits, as the stream would store them. */
export interface Life {
  readonly commits: readonly Commit[];
  readonly answers: readonly Answer[];
  ask(invocation: Partial<Invocation>, deployment?: Partial<Deployment>): Promise<RunOutcome>;
}

export interface Lives {
  readonly fixture: SandboxFixture;
  /** Each run loads the commits again, so that only durable state counts. */
  liveOf(body: string): Promise<Life>;
}

/** Sources in a real sandbox, whose runs may compute for half a second without a pause. */
export function openLives(): Lives {
  let fixture: SandboxFixture | undefined;
  const opened = (): SandboxFixture => fixture ?? expect.unreachable("the sandbox has not started");
  beforeAll(async () => {
    fixture = await startSandbox({ timeLimits: { entryMs: 500, disposeMs: 250 } });
  });
  afterAll(() => fixture?.stop());
  return {
    get fixture() {
      return opened();
    },
    liveOf: (body) => liveOf(opened(), body),
  };
}

let lives = 0;

async function liveOf(fixture: SandboxFixture, body: string): Promise<Life> {
  const source = `dc_repeated${++lives}`;
  const bundle = await fixture.bundle(`export default { name: "r", async run(event) { ${body} } }`);
  const deployed: Deployment = { ...deployment, source, owner: "u_r", bundle: bundle.hash, needsNode: true };
  const commits: Commit[] = [];
  const answers: Answer[] = [];
  const store: RunnerPorts["commits"] = {
    end: () => Promise.resolve(),
    endDeleted: () => Promise.resolve(),
    last: async () => ({ commit: commits.length === 0 ? undefined : JSON.stringify(commits.at(-1)), sequence: commits.length }),
    append: async (_owner, _source, text) => ({ outcome: "stored", sequence: commits.push(JSON.parse(text) as Commit) }),
  };
  const none = (): never => expect.unreachable("the runner does not call this");
  const ports: RunnerPorts = {
    sandbox: fixture.sandbox,
    commits: store,
    bundles: { path: async () => bundle.path },
    stacks: { map: async (_bundle, stack) => stack },
    secrets: { open: none },
    answer: (_subject, answer) => answers.push(answer),
    sendPiece: none,
    clock: { now: Date.now },
    randomId: () => "e",
    log: { info: () => {}, warn: () => {}, error: () => {} },
    deployments: { get: none, onChange: none },
    moves: { move: none },
    intake: { read: none },
    membership: { join: none, heldByOthers: none },
    quotas: { blockedUntil: none, onChange: none },
    wakeUps: { schedule: () => Promise.resolve() },
    timers: { armAt: none, cancel: none },
  };
  let seq = 0;
  return {
    commits,
    answers,
    ask: async (invocation, changed) => {
      const loaded = new SourceCommits(source, "u_r", store);
      await loaded.load();
      const storedAt = Date.now();
      const received = { position: { pool: "default", seq: ++seq, index: 0, storedAt }, storedAt, skippedTicks: 0 };
      const asked: Invocation = { source, trigger: "http", answerTo: "answer.x", ...invocation };
      return await runInvocation({ ...received, invocation: asked }, loaded, { ...deployed, ...changed }, config, ports);
    },
  };
}

/** How its process ends depends on how busy the machine is. */
export const died = expect.stringMatching(/^(cpu_limit|runner_crash|memory_limit)$/) as string;
/** Kills its process, unless its event says otherwise. */
export const killer = `if (event !== "behave") { const a = []; a.length = 2 ** 32 - 1; a.fill(0); } return "well";`;
