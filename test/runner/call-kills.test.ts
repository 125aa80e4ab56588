import { expect, it } from "vitest";
import { withoutKillers } from "../../runner/call-kills.ts";
import type { ExecuteRequest, Execution, Sandbox } from "../../runner/sandbox/port.ts";

const products = { emits: [], logs: [], db: {}, response: null, durationMs: 1, cpuMs: 1 };
const killed: Execution = { outcome: "limited", error: { name: "E", message: "m" }, costProcess: true, ...products };
const well: Execution = { outcome: "returned", result: "1", ...products };

const request = (owner: string): ExecuteRequest => ({
  source: "r_1",
  owner,
  revision: "r_1",
  bundle: { hash: "b", path: "/b", needsNode: false },
  entry: "configure",
  event: "{}",
  props: "{}",
  db: {},
  endpoint: null,
  environment: {},
  limits: { timeoutMs: 1, memoryMb: 1 },
});

interface World {
  readonly sandbox: Sandbox;
  /** Of each call that was made, whether it was alone. */
  readonly made: boolean[];
  next: Execution;
  nowMs: number;
}

function world(): World {
  const made: boolean[] = [];
  const none = (): never => expect.unreachable("nobody asks for this");
  const state: World = {
    sandbox: withoutKillers(
      {
        execute: async ({ alone }) => {
          made.push(alone === true);
          return state.next;
        },
        inspect: none,
        evict: none,
        stats: none,
        stop: none,
      },
      { now: () => state.nowMs },
    ),
    made,
    next: killed,
    nowMs: Date.UTC(2026, 0, 1),
  };
  return state;
}

it("makes calls alone after the first that cost its process, and none after the third", async () => {
  const state = world();
  const { sandbox, made } = state;
  for (let call = 0; call < 3; call++) expect(await sandbox.execute(request("u_1"))).toBe(killed);
  expect(made).toEqual([false, true, true]);
  state.next = well;
  expect(await sandbox.execute(request("u_1"))).toMatchObject({
    outcome: "limited",
    error: { code: "too_many_kills", message: expect.stringContaining("2026-01-01T00:10:00.000Z") as string },
  });
  expect(made).toHaveLength(3);
});

it("is not another owner's affair", async () => {
  const state = world();
  const { sandbox, made } = state;
  for (let call = 0; call < 3; call++) await sandbox.execute(request("u_1"));
  state.next = well;
  expect(await sandbox.execute(request("u_2"))).toBe(well);
  expect(made.at(-1)).toBe(false);
});

it("forgets each after ten minutes", async () => {
  const state = world();
  const { sandbox, made } = state;
  for (let call = 0; call < 3; call++) {
    await sandbox.execute(request("u_1"));
    state.nowMs += 60_000;
  }
  state.nowMs += 7 * 60_000;
  state.next = well;
  expect(await sandbox.execute(request("u_1"))).toBe(well);
  expect(made.at(-1)).toBe(true);
  state.nowMs += 2 * 60_000;
  await sandbox.execute(request("u_1"));
  expect(made.at(-1)).toBe(false);
});

it("does not count what met its limits without costing a process, nor what a neighbour may have done", async () => {
  const state = world();
  const { sandbox, made } = state;
  for (const execution of [{ ...killed, costProcess: false }, { outcome: "crashed", message: "m" } as const]) {
    state.next = execution;
    for (let call = 0; call < 4; call++) expect(await sandbox.execute(request("u_1"))).toBe(execution);
  }
  expect(made).toEqual(Array.from({ length: 8 }, () => false));
});
