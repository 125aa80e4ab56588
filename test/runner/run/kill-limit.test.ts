import { expect, it } from "vitest";
import { killsOfCalls, limitKills } from "../../../runner/run/kill-limit.ts";
import type { ExecuteRequest, Execution, Sandbox } from "../../../runner/sandbox/port.ts";

const products = { emits: [], logs: [], db: {}, response: null, durationMs: 1, cpuMs: 1 };
const killed: Execution = { outcome: "limited", error: { name: "E", message: "m" }, costProcess: true, ...products };
const returned: Execution = { outcome: "returned", result: "1", ...products };
const refused = { outcome: "limited", error: { code: "too_many_kills" } };

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

interface Calls {
  readonly call: (owner: string) => Promise<Execution>;
  /** Calls that reached the sandbox. */
  made: number;
  /** The outcome of the next call. */
  next: Execution;
  nowMs: number;
}

function calls(): Calls {
  const unused = (): never => expect.unreachable("unused");
  const sandbox: Sandbox = {
    execute: async () => {
      state.made += 1;
      return state.next;
    },
    inspect: unused,
    evict: unused,
    stats: unused,
    stop: unused,
  };
  const counted = limitKills(sandbox, { now: () => state.nowMs }, killsOfCalls);
  const state: Calls = { call: (owner) => counted.execute(request(owner)), made: 0, next: killed, nowMs: Date.UTC(2026, 0, 1) };
  return state;
}

it("refuses an owner's calls after three that killed their process", async () => {
  const state = calls();
  for (let call = 0; call < 3; call++) expect(await state.call("u_1")).toBe(killed);
  state.next = returned;
  expect(await state.call("u_1")).toMatchObject({
    ...refused,
    error: { message: expect.stringContaining("2026-01-01T00:10:00.000Z") as string },
  });
  expect(state.made).toBe(3);
});

it("counts a crash that killed its process", async () => {
  const state = calls();
  state.next = { outcome: "crashed", message: "m", costProcess: true };
  for (let call = 0; call < 3; call++) await state.call("u_1");
  expect(await state.call("u_1")).toMatchObject(refused);
});

it("does not refuse another owner's calls", async () => {
  const state = calls();
  for (let call = 0; call < 3; call++) await state.call("u_1");
  state.next = returned;
  expect(await state.call("u_2")).toBe(returned);
});

it("counts each kill for ten minutes", async () => {
  const state = calls();
  for (let call = 0; call < 3; call++) {
    await state.call("u_1");
    state.nowMs += 60_000;
  }
  expect(await state.call("u_1")).toMatchObject(refused);
  state.nowMs += 7 * 60_000;
  expect(await state.call("u_1")).toBe(killed); // The first no longer counts, so this is the third again.
  expect(await state.call("u_1")).toMatchObject(refused);
});

it("does not count limits and crashes that killed no process", async () => {
  const state = calls();
  for (const execution of [{ ...killed, costProcess: false }, { outcome: "crashed", message: "m" } as const]) {
    state.next = execution;
    for (let call = 0; call < 4; call++) expect(await state.call("u_1")).toBe(execution);
  }
});
