import { expect, it } from "vitest";
import { mapStacks } from "../../../runner/run/map-stacks.ts";
import type { Execution } from "../../../runner/sandbox/port.ts";

const stacks = {
  map: async (_bundle: string, stack: string) => (stack.includes(":9:9") ? "" : stack.replace("component.js:1:2", "sources/a.mjs:10:20")),
};
const logged = (msg: string): Execution => ({
  outcome: "returned",
  result: null,
  emits: [],
  logs: [{ k: "console.error", ts: 1, msg }],
  db: {},
  response: null,
  durationMs: 1,
  cpuMs: 1,
});
const mapped = async (msg: string): Promise<unknown> => {
  const execution = await mapStacks(logged(msg), "b", stacks);
  return "logs" in execution ? execution.logs[0]?.msg : undefined;
};

it("maps logged stack frames to the component's files, and removes the runtime's frames", async () => {
  const stack =
    "caught Error: x\n    at run (component.js:1:2)\n    at run (sandbox:web:3:4)\n    at component.js:9:9 {\n  code: 1,\n  cause: Error: y\n      at component.js:1:2\n}";
  expect(await mapped(stack)).toBe(
    "caught Error: x\n    at run (sources/a.mjs:10:20) {\n  code: 1,\n  cause: Error: y\n      at sources/a.mjs:10:20\n}",
  );
});

it("leaves other text unchanged", async () => {
  for (const text of ["", "at noon", "  at 12:30:00\nno component", "component.js:1:2 is a place"]) expect(await mapped(text)).toBe(text);
});
