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
  /** Of attacks that the time limit may end. All others end by themselves, however slow the machine is. */
  readonly timeoutMs?: number;
  readonly memoryMb?: number;
  /** The port of this server is what `run` receives. */
  readonly server?: "http" | "websocket";
  /** They may have to be ended with their process; of all others a process that dies is a failure. */
  readonly costsProcess?: boolean;
}

/**
 * How long the process may compute until a neighbour in it has answered, while it is attacked, ms: half of the answers, and each of them.
 * The promise of docs/security.md. CPU time, since elapsed time depends on what else the machine does.
 */
const maxHalfCpuMs = 50;
const maxCpuMs = 1_000;

const pauseMs = 10;
/** An attack that is over before has canaries after it, so that what starting it computes is not the half of them. */
const minCanaries = 5;

/** Runs each attack while a canary of another owner runs in the same process again and again. @param options of the sandbox */
export function testAttacks(classes: readonly AttackClass[], options: Parameters<typeof openRange>[0] = {}): void {
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
  describe.each(classes)("attacks: $title", ({ attacks, timeoutMs = 1_000, memoryMb = 64, server, costsProcess = false }) => {
    it.each(attacks)("%s", async (_, body, outcome) => {
      await canary(range, canaries, []); // Its context is warm.
      const pids = sandboxPids();
      const limits = { timeoutMs: outcome.test("limited:run_timeout") ? timeoutMs : patientMs, memoryMb };
      const event = server === undefined ? "null" : String(started[server]?.port);
      let isOver = false;
      const attacked = range.attack(body, { event, limits }).finally(() => {
        isOver = true;
      });
      const computed: number[] = [];
      do {
        computed.push(await canary(range, canaries, pids));
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      } while (!isOver || computed.length < minCanaries);
      const execution = await attacked;
      expect(summary(execution)).toMatch(outcome);
      if (!costsProcess && execution.outcome === "limited") expect(execution.costProcess).not.toBe(true);
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
