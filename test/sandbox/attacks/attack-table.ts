import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Bundle, Execution } from "../../../runner/sandbox/port.ts";
import { cpuMsOfProcess } from "../../support/process-tree.ts";
import { sandboxPids } from "../processes.ts";
import { patientMs, requestFor } from "../sandbox-fixture.ts";
import { type AttackRange, openRange } from "./attack-range.ts";
import { startHostileServer } from "./hostile-server.ts";
import { startHostileWebSocketServer } from "./hostile-websocket.ts";

/** What it is, the body of `run`, and what comes of it: `returned:<JSON>`, `threw:<name>: <message>`, `limited:<code>` or `crashed:<message>`. */
export type Attack = readonly [name: string, body: string, outcome: RegExp];

export interface AttackClass {
  readonly title: string;
  readonly attacks: readonly Attack[];
  /** Of attacks that only the time limit ends. All others meet another limit or end by themselves, however slow the machine is. */
  readonly timeoutMs?: number;
  readonly memoryMb?: number;
  /** The port of this server is what `run` receives. */
  readonly server?: "http" | "websocket";
  /** They are ended with their process, or may be; of all others a process that ends is a failure. */
  readonly costsProcess?: "always" | "sometimes";
  /** They run in a process without their neighbour, as those of an owner do who has filled its memory before. */
  readonly isAlone?: true;
}

/**
 * How long the process may compute until a neighbour in it has answered, while it is attacked, ms: half of the answers, and each of them.
 * The promise of docs/security.md. CPU time, since elapsed time depends on what else the machine does.
 */
const maxHalfCpuMs = 50;
const maxCpuMs = 1_000;

/** Between two canaries: close together at first, then less often, since they compute as well. */
const pauses = { firstMs: 10, growth: 1.25, maxMs: 100 };
/** An attack that is over before has canaries after it, so that what starting it computes is not the half of them. */
const minCanaries = 5;

/** Runs each attack while a canary of another owner runs in the same process again and again. */
export function testAttackClasses(classes: readonly AttackClass[]): void {
  describe("in a process that goes on", () => {
    testAttacks(classes.filter(({ costsProcess }) => costsProcess === undefined));
  });
  describe("in a process that may end", () => {
    // What V8 does not interrupt computes until its process ends.
    const timeLimits = { disposeMs: 250 };
    testAttacks(
      classes.filter(({ costsProcess }) => costsProcess !== undefined),
      { timeLimits },
    );
  });
}

let attackers = 0;

/** @param options of the sandbox */
function testAttacks(classes: readonly AttackClass[], options: Parameters<typeof openRange>[0] = {}): void {
  const range = openRange(options);
  const servers = { http: startHostileServer, websocket: startHostileWebSocketServer };
  const started: Partial<Record<keyof typeof servers, Awaited<ReturnType<(typeof servers)["http" | "websocket"]>>>> = {};
  let canaries: Bundle;
  beforeAll(async () => {
    for (const name of ["http", "websocket"] as const)
      if (classes.some(({ server }) => server === name)) started[name] = await servers[name]();
    canaries = await range.fixture.bundle(`export default { name: "canary", run: (n) => n + 1 }`);
  });
  afterAll(async () => {
    for (const server of Object.values(started)) await server.stop();
  });
  describe.each(classes)("attacks: $title", ({ attacks, timeoutMs = 400, memoryMb = 64, server, costsProcess, isAlone = false }) => {
    it.each(attacks)("%s", async (_, body, outcome) => {
      await canary(range, canaries, []); // Its context is warm.
      const limits = { timeoutMs: outcome.test("limited:run_timeout") ? timeoutMs : patientMs, memoryMb };
      const event = server === undefined ? "null" : String(started[server]?.port);
      let isOver = false;
      attackers += 1;
      // An owner of its own: that of an earlier attack may have been moved to another process.
      const request = { owner: `u_attacker${attackers}`, source: `dc_attacker${attackers}`, alone: isAlone };
      const guarded = `if (event === "load") return; ${body}`;
      await range.attack(guarded, { ...request, event: `"load"`, limits: { memoryMb } }); // Else the limit could be over before the attack begins.
      const pids = sandboxPids();
      const attacked = range.attack(guarded, { ...request, event, limits }).finally(() => {
        isOver = true;
      });
      const computed: number[] = [];
      let pauseMs = pauses.firstMs;
      do {
        computed.push(await canary(range, canaries, pids));
        const paused = new Promise((resolve) => setTimeout(resolve, pauseMs));
        await (isOver ? paused : Promise.race([attacked, paused]));
        if (computed.length >= minCanaries) pauseMs = Math.min(pauseMs * pauses.growth, pauses.maxMs);
      } while (!isOver || computed.length < minCanaries);
      const execution = await attacked;
      expect(summary(execution)).toMatch(outcome);
      if (costsProcess !== "sometimes" && execution.outcome === "limited")
        expect(execution.costProcess ?? false).toBe(costsProcess === "always");
      expect(median(computed)).toBeLessThan(maxHalfCpuMs);
      expect(Math.max(...computed)).toBeLessThan(maxCpuMs);
    });
  });
}

function summary(execution: Execution): string {
  switch (execution.outcome) {
    case "returned":
      return `returned:${execution.result}`;
    case "threw":
      return `threw:${execution.error.name}: ${execution.error.message}`;
    case "limited":
      return `limited:${execution.error.code}`;
    case "crashed":
      return `crashed:${execution.message}`;
  }
}

/** How long these processes have computed until a neighbour has answered, ms. */
async function canary({ fixture }: AttackRange, bundle: Bundle, pids: readonly number[]): Promise<number> {
  const request = requestFor(bundle, { source: "dc_canary", owner: "u_canary", event: "1", limits: { memoryMb: 64 } });
  const before = pids.map((pid) => [pid, cpuMsOfProcess(pid) ?? 0] as const);
  expect(await fixture.sandbox.execute(request)).toMatchObject({ outcome: "returned", result: "2" });
  // Of a process that has ended, it is not known.
  return before.reduce((sum, [pid, cpuMs]) => sum + Math.max(0, (cpuMsOfProcess(pid) ?? cpuMs) - cpuMs), 0);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
