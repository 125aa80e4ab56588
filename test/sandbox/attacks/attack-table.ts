import { describe, expect, it } from "vitest";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { sampleCases } from "../../support/soak.ts";
import { type AttackRange, patientMs } from "./attack-range.ts";
import { requestFor } from "../sandbox-fixture.ts";

/** What it is, the body of `run`, and what comes of it: `returned:<JSON>`, `threw:<message>` or `limited:<code>`. */
export type Attack = readonly [name: string, body: string, outcome: RegExp];

export interface TableOptions {
  /** Of attacks that a limit may end. */
  readonly timeoutMs?: number;
  readonly memoryMb?: number;
  /** JSON text of what `run` receives. */
  readonly event?: () => string;
  /** `npm test` runs one attack of four, `npm run test:soak` all. */
  readonly isSampled?: boolean;
  /** Attacks that may have to be ended with their process; of all others a process that dies is a failure. */
  readonly costsProcess?: boolean;
}

/**
 * So many times its quiet answer, and as much again as a loaded machine takes at times, may a neighbour in the same process take to
 * answer while it is attacked: half of its answers come within that.
 */
const ratio = 25;
const slackMs = 750;

/** Runs each attack while a canary of another owner runs in the same process all the time, and compares the canary's times before and during the attack. */
export function attackTable(title: string, range: AttackRange, attacks: readonly Attack[], options: TableOptions = {}): void {
  const { timeoutMs = 1_000, memoryMb = 64, event = () => "null", costsProcess = false, isSampled = false } = options;
  describe(`attacks: ${title}`, () => {
    it.each(sampleCases(attacks, isSampled ? 4 : 1))("%s", async (_, body, outcome) => {
      const quiet = [await canary(range), await canary(range), await canary(range)];
      let isOver = false;
      const limits = { timeoutMs: outcome.source.includes("limited") ? timeoutMs : patientMs, memoryMb };
      const attacked = range.attack(body, { event: event(), limits }).finally(() => {
        isOver = true;
      });
      const during: number[] = [];
      do during.push(await canary(range));
      while (!isOver);
      const execution = await attacked;
      expect(summary(execution)).toMatch(outcome);
      if (!costsProcess && execution.outcome === "limited") expect(execution.costProcess).not.toBe(true);
      expect(median(during)).toBeLessThan(ratio * median(quiet) + slackMs);
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

/** Milliseconds until a neighbour has answered. */
async function canary({ fixture }: AttackRange): Promise<number> {
  const bundle = await fixture.bundle(`export default { name: "canary", run: (n) => n + 1 }`);
  const request = requestFor(bundle, { source: "dc_canary", owner: "u_canary", event: "1", limits: { timeoutMs: 20_000, memoryMb: 64 } });
  const startedAt = performance.now();
  expect(await fixture.sandbox.execute(request)).toMatchObject({ outcome: "returned", result: "2" });
  return Math.round(performance.now() - startedAt);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
