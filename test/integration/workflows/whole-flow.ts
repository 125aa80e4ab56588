import type { Execution } from "../../../runner/sandbox/port.ts";
import { returned, threw, type Node } from "./support.ts";

/** All that a step may control, within one another. */
export const wholeFlow: readonly Node[] = [
  { name: "start" },
  {
    name: "fork",
    parallel: [
      [{ name: "a1" }, { name: "guard", try: [{ name: "bad" }], catch: [{ name: "handled" }], finally: [{ name: "clean" }] }],
      [
        {
          name: "each",
          forEach: "{{ 1 }}",
          concurrency: 2,
          steps: [{ name: "act" }, { name: "inner", parallel: [[{ name: "x" }], [{ name: "y" }]] }],
        },
      ],
      [{ name: "delay" }, { name: "c2" }],
      [
        { name: "check", switch: "{{ 1 }}", cases: [{ equals: 1, steps: [{ name: "chosen" }] }], default: [{ name: "other" }] },
        { name: "again", while: "{{ true }}", steps: [{ name: "turn" }] },
      ],
    ],
  },
  { name: "last" },
];

/** The number of the list that the branch of a step is for. */
export const itemOf = (steps: Record<string, Record<string, unknown>>): number | undefined => steps["item"]?.["item"] as number | undefined; // One of the list below.

/** What a step of `wholeFlow` does, the same in all runs. */
export function executeStep(name: string, steps: Record<string, Record<string, unknown>>, delayMs: number): Execution {
  if (name === "bad") return threw("no luck");
  if (name === "delay") return returned(1, { flow: { kind: "delay", ms: delayMs } });
  if (name === "check") return returned(0);
  const rounds = (steps["again"]?.["$iterations"] ?? -1) as number; // The index of the last round.
  if (name === "again") return returned(rounds < 1);
  return returned(name === "each" ? [1, 2, 3] : `${name} ${itemOf(steps) ?? ""}`);
}
