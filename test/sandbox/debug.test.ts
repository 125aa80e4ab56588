import { afterEach, expect, it } from "vitest";
import type { LogRecord } from "../../domain/run-products.ts";
import { startSandbox, type SandboxFixture } from "./sandbox-fixture.ts";
import { until } from "../support/until.ts";

/** Executions under V8's inspector. */
let fixture: SandboxFixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly callFrames?: readonly { readonly callFrameId: string; readonly location: { readonly scriptId: string } }[];
    readonly scriptId?: string;
    readonly url?: string;
  };
  readonly result?: { readonly result?: { readonly value?: unknown } };
}

/** A debugger that keeps what it is sent. */
async function startDebugged(waits: boolean) {
  const messages: Message[] = [];
  const logs: LogRecord[] = [];
  let send: ((message: string) => void) | undefined;
  fixture = await startSandbox({
    debug: {
      waits,
      attach: (to) => (send = to),
      onMessage: (message) => messages.push(JSON.parse(message) as Message),
      onLog: (record) => logs.push(record),
    },
  });
  return { messages, logs, send: (message: object) => send?.(JSON.stringify(message)), isAttached: () => send !== undefined };
}

const paused = (messages: readonly Message[]): Message[] => messages.filter(({ method }) => method === "Debugger.paused");

it("waits for a debugger, pauses at the first statement and at a breakpoint, evaluates there, and ends the run", async () => {
  const { messages, send, isAttached } = await startDebugged(true);
  const code = `export default {\n  run(event) {\n    const seen = event.n + 1;\n    debugger;\n    this.$emit({ seen });\n  },\n};`;
  const run = fixture?.run(code, { event: `{"n":41}` });
  await until(isAttached, "the run has begun");
  send({ id: 1, method: "Runtime.enable" });
  send({ id: 2, method: "Debugger.enable" });
  await until(() => messages.some(({ id }) => id === 2), "the debugger is enabled");
  send({ id: 3, method: "Runtime.runIfWaitingForDebugger" });
  await until(() => paused(messages).length === 1, "it pauses at the first statement");
  const script = messages.find(({ method, params }) => method === "Debugger.scriptParsed" && params?.url === "component.js");
  expect(paused(messages)[0]?.params?.callFrames?.[0]?.location.scriptId).toBe(script?.params?.scriptId);
  send({ id: 4, method: "Debugger.resume" });
  await until(() => paused(messages).length === 2, "it pauses at the debugger statement");
  const [frame] = paused(messages)[1]?.params?.callFrames ?? [];
  send({ id: 5, method: "Debugger.evaluateOnCallFrame", params: { callFrameId: frame?.callFrameId, expression: "seen" } });
  await until(() => messages.some(({ id }) => id === 5), "it evaluates");
  expect(messages.find(({ id }) => id === 5)?.result?.result?.value).toBe(42);
  send({ id: 6, method: "Debugger.resume" });
  expect(await run).toMatchObject({ outcome: "returned", emits: [{ payload: `{"seen":42}` }] });
});

it("reports lines of the log while the run goes on", async () => {
  const { logs } = await startDebugged(false);
  const run = fixture?.run(`export default { async run() { console.log("first"); await new Promise((r) => setTimeout(r, 1_000)); } };`);
  await until(() => logs.length > 0, "the line is reported");
  expect(await Promise.race([run, Promise.resolve("running")])).toBe("running");
  expect(await run).toMatchObject({ outcome: "returned", logs });
});
