import { createEgress } from "../../platform/http/egress.ts";
import type { Execution } from "../../runner/sandbox/port.ts";
import { shareSandbox, startSandbox } from "./sandbox-fixture.ts";

/** Runs snippets as the body of a component's `run`, in a real isolate of a real child; loopback may be reached. */
export interface Snippets {
  /** What the snippet returns, after a trip through JSON. Rejects with the error that it threw. */
  evaluate(code: string, modules?: string): Promise<unknown>;
  execute(code: string, modules?: string): Promise<Execution>;
  stop(): Promise<void>;
}

/** @param egressAllow without it, loopback, and the sandbox is shared with other files */
export async function startSnippets(egressAllow?: readonly string[]): Promise<Snippets> {
  const fixture = await (egressAllow === undefined ? shareSandbox() : startSandbox({ egress: createEgress({ allow: egressAllow }) }));
  const execute = (code: string, modules = ""): Promise<Execution> =>
    fixture.run(`${modules}\nexport default { name: "snippet", async run() {\n${code}\n} };`, {
      event: "{}",
      environment: {},
      limits: { memoryMb: 256 },
    });

  return {
    execute,
    async evaluate(code, modules) {
      const execution = await execute(code, modules);
      if (execution.outcome === "returned") return execution.result === null ? undefined : JSON.parse(execution.result);
      throw Object.assign(
        new Error(
          execution.outcome === "crashed"
            ? execution.message
            : `${execution.error.name}: ${execution.error.message}\n${execution.error.stack ?? ""}`,
        ),
        { execution },
      );
    },
    stop: () => fixture.stop(),
  };
}

/** The same snippet in Node itself, the oracle. */
export async function evaluateInNode(code: string): Promise<unknown> {
  const run = new Function(`return (async () => {\n${code}\n})()`) as () => Promise<unknown>;
  const text = JSON.stringify(await run());
  return text === undefined ? undefined : JSON.parse(text);
}
