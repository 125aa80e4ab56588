import { describe, expect, it } from "vitest";
import type { Answer } from "../../../domain/invocation/invocation.ts";
import { partitionCount, streams } from "../../../domain/subjects.ts";
import type { ResumeOutcome } from "../../../domain/workflow/resume-request.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { returned, withWorkflows, workflowOf } from "./support.ts";

/** Real streams and runners; the code of steps is a function of the test. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const { deploy, start, invoke, commits } = withWorkflows(nats);

const isIdle = async (): Promise<boolean> => (await nats.connection.manager.streams.info(streams.invocations)).state.messages === 0;
const untilEnded = (workflow: string, runs = 1): Promise<void> =>
  until(
    async () => (await commits(workflow)).filter(({ workflow: { status } }) => !["running", "suspended"].includes(status)).length >= runs,
    "all runs have ended",
  );

describe("a request to a resume or cancel URL", () => {
  const outcomes = (answers: readonly Answer[]): readonly ResumeOutcome[] =>
    answers.flatMap((answer) => (answer.kind === "resume" ? [answer.outcome] : []));
  const ask = (source: string, run: string, suspension: number, action: "resume" | "cancel" = "resume"): Promise<void> =>
    invoke({ source, trigger: "resume", resume: { run, suspension, action, answerTo: "answer.t.r" } });
  const untilSuspended = (source: string, count: number): Promise<void> =>
    until(async () => (await commits(source)).filter(({ workflow }) => workflow.status === "suspended").length >= count, "it is suspended");
  const suspends = { flow: { kind: "suspend", ms: null } } as const;
  const time = String.raw`\d{4}-\S+Z`;

  it("is answered as soon as it is decided: one of two has an effect, the other is refused with the time, also after the end", async () => {
    await deploy(workflowOf("p_twice", ["ask", "after"]));
    const answers: Answer[] = [];
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    await start(
      "r_twice",
      async ({ name }) => {
        if (name === "after") await mayEnd;
        return returned(name, name === "ask" ? suspends : {});
      },
      answers,
    );
    await invoke({ source: "p_twice", trigger: "manual", run: "r_once", event: 1 });
    await untilSuspended("p_twice", 1);
    await ask("p_twice", "r_once", 1);
    await until(() => outcomes(answers).length === 1, "the first is answered while the next step runs");
    await ask("p_twice", "r_once", 1, "cancel");
    await until(() => outcomes(answers).length === 2, "the second is answered while the next step runs");
    const message = (state: string) =>
      expect.stringMatching(new RegExp(`^run r_once was resumed at ${time} by a request to its resume URL: it ${state}$`)) as string;
    expect(outcomes(answers)).toEqual([{ outcome: "done" }, { outcome: "gone", code: "resume_url_used", message: message("is running") }]);
    end();
    await untilEnded("p_twice");
    await until(isIdle, "all are acked");
    answers.splice(0);
    await ask("p_twice", "r_once", 1);
    await until(() => outcomes(answers).length === 1, "the third is answered after the end");
    expect(outcomes(answers)).toEqual([{ outcome: "gone", code: "resume_url_used", message: message("has succeeded") }]);
  });

  it("is refused after a cancellation, after the time, after a rerun has replaced it, and when the run is forgotten", async () => {
    await deploy(workflowOf("p_gone", ["ask"]));
    const answers: Answer[] = [];
    await start(
      "r_gone",
      ({ steps, context }) => {
        if (steps["trigger"]?.["event"] === "late") return returned(1, { flow: { kind: "suspend", ms: 10 } });
        const isFirst = (context["run"] as { runs: number }).runs === 1;
        if (steps["trigger"]?.["event"] === "again" && isFirst)
          return returned(1, { flow: { kind: "rerun", ms: 10, context: null, maxRetries: 1 } });
        return returned(1, suspends);
      },
      answers,
    );
    for (const event of ["cancel", "late", "again"]) await invoke({ source: "p_gone", trigger: "manual", run: `r_${event}`, event });
    await untilSuspended("p_gone", 4);
    await ask("p_gone", "r_cancel", 1, "cancel");
    await untilEnded("p_gone", 2);
    await until(() => outcomes(answers).length === 1, "the cancellation is answered");
    expect(outcomes(answers.splice(0))).toEqual([{ outcome: "done" }]);
    const refusalOf = async (run: string, suspension: number): Promise<readonly [string, string]> => {
      await ask("p_gone", run, suspension);
      await until(() => outcomes(answers).length === 1, "it is answered");
      const [outcome] = outcomes(answers.splice(0));
      return outcome?.outcome === "gone" ? [outcome.code, outcome.message.replace(/\d{4}-\S+Z/, "<time>")] : ["done", ""];
    };
    expect(await refusalOf("r_cancel", 1)).toEqual([
      "resume_url_used",
      "run r_cancel was canceled at <time> by a request to its cancel URL",
    ]);
    expect(await refusalOf("r_late", 1)).toEqual([
      "resume_url_expired",
      "run r_late was canceled at <time>, because nothing had resumed it in time",
    ]);
    expect(await refusalOf("r_again", 1)).toEqual([
      "resume_url_replaced",
      "run r_again stopped waiting for this URL at <time>, because its time had come: it is suspended",
    ]);
    expect(await refusalOf("r_forgotten", 1)).toEqual(["run_ended", "run r_forgotten has ended, so this URL has no effect"]);
  });
});
