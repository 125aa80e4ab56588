import { describe, expect, it } from "vitest";
import { sandboxPids } from "../processes.ts";
import { died, killer, openLives } from "./repeated-runs.ts";

const lives = openLives();

describe("a source whose runs cost their process", () => {
  it("is disabled after three of them: it answers with an error, drops ticks, runs hooks, and runs again once redeployed", async () => {
    const life = await lives.liveOf(killer);
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
});
