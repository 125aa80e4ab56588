import { describe, expect, it } from "vitest";
import { sandboxPids } from "./processes.ts";
import { until } from "../support/until.ts";
import { startSandbox } from "./sandbox-fixture.ts";
import { answer, modes, obstacles, openCache, returned, testStartFailures, withExecutable } from "./start-obstacles.ts";

const cache = openCache();

/** The first obstacle; start-failures.full.test.ts has the others. */
testStartFailures(
  modes.flatMap((mode) => obstacles.slice(0, 1).map(([name, obstruct]) => ({ ...mode, name, obstruct }))),
  cache,
);

describe("when an exclusive child cannot be started", () => {
  it("reports it until a start succeeds, even if no run needs one any more", async () => {
    const fixture = await startSandbox(cache);
    const restore = await withExecutable("/nonexistent/node");
    try {
      await expect(fixture.run(answer, { alone: true })).rejects.toMatchObject({ code: "sandbox_unavailable" });
      expect(fixture.sandbox.stats().startFailure).toContain("ENOENT");
      expect(await fixture.run(answer)).toMatchObject(returned);
    } finally {
      await restore();
    }
    await until(() => fixture.sandbox.stats().startFailure === undefined, "a start that succeeds");
    await until(() => sandboxPids().length === 1, "the end of the child that was only an attempt");
    await fixture.stop();
  });
});

describe("createSandbox", () => {
  it("rejects and leaves nothing behind when the first child cannot be started", async () => {
    const restore = await withExecutable("/nonexistent/node");
    try {
      await expect(startSandbox(cache)).rejects.toMatchObject({ code: "sandbox_unavailable" });
    } finally {
      await restore();
    }
    // A child of an earlier test may still be ending.
    await until(() => sandboxPids().length === 0, "the end of all sandbox processes");
  });
});
