import { describe, expect, it } from "vitest";
import type { Invocation } from "../../domain/invocation.ts";
import { Ahead } from "../../runner/ahead.ts";
import type { Waiting } from "../../runner/waiting.ts";
import { positionAt } from "./position.ts";

const entry = (trigger: Invocation["trigger"], isAwaited = false): Waiting => ({
  received: {
    invocation: { source: "dc_1", trigger, ...(isAwaited ? { answerTo: "inbox" } : {}) },
    position: positionAt(1),
    storedAt: 0,
  },
  bytes: 1,
  settle: () => undefined,
});

function looking() {
  const ran: Waiting["received"][] = [];
  const ahead = new Ahead((received) => (ran.push(received), Promise.resolve(undefined)));
  return { ahead, ran };
}

describe("Ahead", () => {
  it("runs requests whose callers wait while a hook is under way, each once", async () => {
    const { ahead, ran } = looking();
    const [awaited, other] = [entry("http", true), entry("http")];
    ahead.look({ running: entry("hook"), waiting: [other, awaited, entry("timer"), entry("manual")] });
    ahead.look({ running: entry("hook"), waiting: [other, awaited] });
    expect(ran).toEqual([awaited.received]);
    expect([ahead.take(other), await ahead.take(awaited), ahead.take(awaited)]).toEqual([undefined, undefined, undefined]);
  });

  it("runs nothing behind another request, nor where nothing runs", () => {
    const { ahead, ran } = looking();
    const waiting = [entry("http", true)];
    ahead.look({ running: entry("http", true), waiting });
    ahead.look({ running: undefined, waiting });
    expect(ran).toEqual([]);
  });

  it("runs eight of those that wait behind one run", () => {
    const { ahead, ran } = looking();
    ahead.look({ running: entry("hook"), waiting: Array.from({ length: 20 }, () => entry("http", true)) });
    expect(ran).toHaveLength(8);
  });

  it("gives a tick some time to end", async () => {
    const { ahead, ran } = looking();
    const [stays, gone] = [entry("http", true), entry("http", true)];
    const line = { running: entry("timer"), waiting: [gone, stays] };
    ahead.look(line);
    expect(ran).toEqual([]);
    line.waiting.shift();
    await expect.poll(() => ran.length, { timeout: 30_000 }).toBe(1);
    expect(ran).toEqual([stays.received]);
  });
});
