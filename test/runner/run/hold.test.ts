import { describe, expect, it } from "vitest";
import type { Hook } from "../../../domain/trigger.ts";
import type { Deployment } from "../../../domain/source/deployment.ts";
import { maxPausedMs } from "../../../domain/source/ended-work.ts";
import { decide } from "../../../runner/run/hold.ts";
import { deployment } from "../support.ts";

const room = { hasRoom: true, ageMs: 0 };
const record = (generation: number, failed = false) => ({
  generation,
  run: "r_1",
  attempts: 1,
  error: failed ? { name: "Error", message: "no" } : null,
});
const http = (deployed: Partial<Deployment>, hooks: Partial<Record<Hook, ReturnType<typeof record>>> = {}, given = room) =>
  decide({ trigger: "http" }, { ...deployment, ...deployed }, { hooks }, given);

describe("an invocation of a new version", () => {
  const starting = { startsWith: ["deploy", "activate"] as const };

  it("waits until all hooks that start the version have succeeded in its generation", () => {
    expect(http(starting)).toBe("starting");
    expect(http(starting, { deploy: record(3), activate: record(2) })).toBe("starting");
    expect(http(starting, { deploy: record(3), activate: record(3) })).toBe("run");
  });

  it("waits for the version that replaces this one, once a hook has failed", () => {
    expect(http(starting, { deploy: record(3), activate: record(3, true) })).toBe("starting");
  });

  it("runs at once if the version starts without hooks, or is a restored one", () => {
    expect([http({}), http({ hooks: ["activate"] })]).toEqual(["run", "run"]);
  });
});

describe("an invocation of an inactive source", () => {
  const paused = { active: false };

  it("waits, except hooks, which run, and ticks, which are skipped", () => {
    expect(http(paused)).toBe("paused");
    expect(decide({ trigger: "hook" }, { ...deployment, ...paused }, { hooks: {} }, room)).toBe("run");
    expect(decide({ trigger: "timer" }, { ...deployment, ...paused }, { hooks: {} }, room)).toBe("drop");
  });

  it("ends with an error that has the cause after seven days, and while the backlog is full", () => {
    const old = http(paused, {}, { hasRoom: true, ageMs: maxPausedMs + 1 });
    expect(old).toMatchObject({ code: "source_paused", message: expect.stringContaining("more than 7 days") });
    const full = http(paused, {}, { hasRoom: false, ageMs: 0 });
    expect(full).toMatchObject({ code: "source_paused", message: expect.stringContaining("backlog of the source or its owner is full") });
  });

  it("ends with an error if the source is being deleted", () => {
    expect(http({ active: false, ending: 1 })).toMatchObject({ code: "source_deleted" });
  });
});
