import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Commit } from "../../../domain/run/commit.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";
import type { Answer, Invocation } from "../../../domain/invocation/invocation.ts";
import { SourceCommits } from "../../../runner/commit/source-commits.ts";
import type { RunnerPorts } from "../../../runner/ports.ts";
import { runInvocation, type RunOutcome } from "../../../runner/run/run.ts";
import { deployment } from "../../runner/support.ts";
import { isSoak } from "../../support/soak.ts";
import { sandboxPids, until } from "../processes.ts";
import { type SandboxFixture, startSandbox } from "../sandbox-fixture.ts";

/** Sources whose every run kills its process, in a real sandbox. */
let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await startSandbox();
});
afterAll(() => fixture.stop());

const config = { runner: "r1", pool: "default", runTimeoutMs: 2_500, memoryMb: 32, stateCacheBytes: 1e6 };

interface Life {
  readonly commits: readonly Commit[];
  readonly answers: readonly Answer[];
  ask(invocation: Partial<Invocation>, deployment?: Partial<Deployment>): Promise<RunOutcome>;
}

let lives = 0;
/** One source with its commits, as the stream would store them. Each run loads the commits again, so that only durable state counts. */
async function liveOf(body: string): Promise<Life> {
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
    clock: { now: Date.now },
    randomId: () => "e",
    log: { info: () => {}, warn: () => {}, error: () => {} },
    deployments: { get: none, onChange: none },
    moves: { move: none },
    intake: { read: none },
    membership: { join: none, heldByOthers: none },
    quotas: { blockedUntil: none, onChange: none },
    wakeUps: { schedule: () => Promise.resolve() },
    timers: { armAt: none },
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
const died = expect.stringMatching(/^(run_timeout|runner_crash|memory_limit)$/) as string;
const killer = `if (event !== "behave") { const a = []; a.length = 2 ** 32 - 1; a.fill(0); } return "well";`;

describe("a source whose runs cost their process", () => {
  it("is disabled after three of them: it answers with an error, drops ticks, runs hooks, and runs again once redeployed", async () => {
    const life = await liveOf(killer);
    for (let run = 0; run < 3; run++) expect(await life.ask({})).toBe("committed");
    expect(life.commits.map(({ error }) => error?.code)).toEqual([died, died, "source_disabled"]);
    expect(life.commits.at(-1)?.logs.map(({ err }) => err?.code)).toEqual([died, "source_disabled"]);
    expect(life.commits.at(-1)?.state.kills).toMatchObject({ deployment: "d_1", inRow: 3 });

    const pids = sandboxPids();
    expect(await life.ask({ event: "behave" })).toBe("committed");
    expect(life.commits.at(-1)?.error).toMatchObject({
      code: "source_disabled",
      message: expect.stringContaining("send its 'active' again") as string,
    });
    expect(life.answers.at(-1)).toMatchObject({ kind: "run", run: { error: { code: "source_disabled" } } });
    expect(await life.ask({ trigger: "timer" })).toBe("dropped");
    expect(sandboxPids().filter((pid) => !pids.includes(pid))).toEqual([]);

    // Hooks run, so that they can undo what they have set up in other systems.
    await life.ask({ trigger: "hook", hook: "deactivate", run: "r_hook" });
    expect(life.commits.at(-1)).toMatchObject({ error: null, run: { hook: "deactivate" } });

    await life.ask({ event: "behave" }, { id: "d_2", generation: 2 });
    expect(life.commits.at(-1)).toMatchObject({ error: null, run: { result: `"well"` } });
    expect(life.commits.at(-1)?.state.kills).toBeUndefined();
  });

  it.runIf(isSoak)("runs in an exclusive child after the first of them", async () => {
    const life = await liveOf(killer);
    await life.ask({});
    await fixture.run(`export default { name: "n", run: () => 1 }`, { source: "dc_neighbour" });
    await until(() => sandboxPids().length === 1, "the end of the process that it cost");
    const [shared] = sandboxPids();
    await life.ask({});
    expect(sandboxPids()).toContain(shared);
    expect(life.commits.map(({ state }) => state.kills?.inRow)).toEqual([1, 2]);
  });
});

describe("a source that only meets its limits", () => {
  it.runIf(isSoak)("is not disabled: loops, floods and errors kill no process", async () => {
    const life = await liveOf(
      `if (event === "loop") for (;;); if (event === "timers") for (;;) setTimeout(() => {}, 1000); throw new Error("x");`,
    );
    for (const event of ["loop", "loop", "loop", "timers", "timers", "timers", "throw"]) await life.ask({ event });
    expect(life.commits.map(({ state }) => state.kills)).toEqual(Array.from({ length: 7 }, () => undefined));
    expect(life.commits.at(-1)?.error).toMatchObject({ message: "x" });
  });
});
