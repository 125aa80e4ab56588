import { describe, expect, it } from "vitest";
import type { Commit } from "../../../domain/run/commit.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";
import { Unavailable } from "../../../domain/errors.ts";
import type { Invocation } from "../../../domain/invocation/invocation.ts";
import { handleInvocation } from "../../../runner/handle-invocation.ts";
import { DeploymentCache } from "../../../runner/run/deployment-cache.ts";
import { IsolateSlots } from "../../../runner/workflow/isolate-slots.ts";
import { VariablesCache } from "../../../runner/run/variables.ts";
import { ResumeUrls } from "../../../runner/workflow/resume-urls.ts";
import { ResumedRuns } from "../../../runner/workflow/resumed-runs.ts";
import { SourceCommitsCache } from "../../../runner/commit/source-commits.ts";
import type { RunnerPorts } from "../../../runner/ports.ts";
import { deployment, positionAt, runnerConfig } from "../support.ts";

/** One source whose bundle cannot be read because of `error`. */
function failing(error: Error, deployed: Partial<Deployment> = {}) {
  const commits: Commit[] = [];
  const ports = {
    deployments: { get: () => Promise.resolve({ ...deployment, ...deployed }), onChange: () => Promise.resolve() },
    commits: {
      last: () => Promise.resolve({ commit: undefined, sequence: 0 }),
      append: (_owner: string, _source: string, commit: string) => {
        commits.push(JSON.parse(commit) as Commit); // Written by the runner from a typed value.
        return Promise.resolve({ outcome: "stored", sequence: commits.length });
      },
    },
    bundles: { path: () => Promise.reject(error) },
    secrets: { open: () => Promise.resolve("{}") },
    timers: { armAt: () => Promise.resolve() },
    answer: () => undefined,
    clock: { now: () => 5_000 },
    randomId: () => "x",
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  } as unknown as RunnerPorts; // Only what the runner calls.
  const context = {
    deployments: new DeploymentCache(ports.deployments),
    commits: new SourceCommitsCache(16_384),
    callSandbox: ports.sandbox,
    workflows: {
      slots: new IsolateSlots(),
      places: { ask: (queue: string) => ({ queue, granted: Promise.resolve(), leave: () => undefined }) },
      urls: new ResumeUrls(ports.secrets),
      resumed: new ResumedRuns(),
      variables: new VariablesCache(ports),
      sandbox: ports.sandbox,
    },
  };
  const tryRun = (failures: number, invocation: Partial<Invocation> = {}) =>
    handleInvocation(
      {
        invocation: { source: deployment.source, trigger: "event", event: { secret: 1 }, ...invocation },
        position: positionAt(1),
        storedAt: 0,
        skippedTicks: 0,
        failures,
      },
      context,
      runnerConfig,
      ports,
    );
  return { commits, tryRun };
}

describe("an invocation that fails because of an unexpected error", () => {
  it("is tried six times, then committed as an error, so that later invocations run", async () => {
    const { commits, tryRun } = failing(new TypeError("the bundle is broken"));
    for (const failures of [0, 1, 2, 3, 4]) expect(await tryRun(failures)).toBe("retry");
    expect(commits).toEqual([]);
    expect(await tryRun(5)).toBe("finished");
    expect(commits).toHaveLength(1);
    expect(commits[0]?.error).toEqual({
      name: "InternalError",
      code: "internal_error",
      message: "Headwater could not run this invocation 6 times: the bundle is broken",
    });
    expect(commits[0]?.run).not.toHaveProperty("received");
    // After a redelivery it is recognized.
    expect(await tryRun(0)).toBe("finished");
    expect(commits).toHaveLength(1);
  });

  it("is retried forever while something is unavailable", async () => {
    const { commits, tryRun } = failing(new Unavailable("NATS is down"));
    expect([await tryRun(5), await tryRun(500), commits]).toEqual(["retry", "retry", []]);
  });

  it("is finished even if the next tick of its timer cannot be armed", async () => {
    const { commits, tryRun } = failing(new TypeError("broken"), { props: { timer: { cron: "nonsense" } } });
    const link = { trigger: "timer", chain: "timer", at: 1_000, generation: deployment.generation, event: {} } as const;
    expect([await tryRun(4, link), await tryRun(5, link), commits.length]).toEqual(["retry", "finished", 1]);
  });

  it("is dropped when it is a call, whose caller has stopped waiting", async () => {
    const { commits, tryRun } = failing(new TypeError("broken"));
    const dryRun = { deadline: 60_000, source: deployment.source } as unknown as NonNullable<Invocation["dryRun"]>; // Only what the runner reads.
    expect(await tryRun(5, { trigger: "dry-run", dryRun, answerTo: "answer.1", source: "run_1" })).toBe("finished");
    expect(commits).toEqual([]);
  });
});
