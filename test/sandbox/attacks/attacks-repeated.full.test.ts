import { describe, expect, it } from "vitest";
import { sandboxPids } from "../processes.ts";
import { until } from "../../support/until.ts";
import { killer, openLives } from "./repeated-runs.ts";

const lives = openLives();

describe("a source whose runs cost their process", () => {
  it("runs in an exclusive child after the first of them", async () => {
    const life = await lives.liveOf(killer);
    await life.ask({});
    await lives.fixture.run(`export default { name: "n", run: () => 1 }`, { source: "dc_neighbour" });
    await until(() => sandboxPids().length === 1, "the end of the process that it cost");
    const [shared] = sandboxPids();
    await life.ask({});
    expect(sandboxPids()).toContain(shared);
    expect(life.commits.map(({ state }) => state.kills?.inRow)).toEqual([1, 2]);
  });
});

describe("a source that only meets its limits", () => {
  it("is not disabled: loops, floods and errors kill no process", async () => {
    const life = await lives.liveOf(
      `if (event === "loop") for (;;); if (event === "timers") for (;;) setTimeout(() => {}, 1000); throw new Error("x");`,
    );
    for (const event of ["loop", "loop", "loop", "timers", "timers", "timers", "throw"]) await life.ask({ event });
    expect(life.commits.map(({ state }) => state.kills)).toEqual(Array.from({ length: 7 }, () => undefined));
    expect(life.commits.at(-1)?.error).toMatchObject({ message: "x" });
  });
});
