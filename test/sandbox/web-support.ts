import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEgress } from "../../platform/http/egress.ts";
import { createSandbox } from "../../runner/sandbox/pool.ts";
import type { Execution, Sandbox } from "../../runner/sandbox/port.ts";
import { bundleComponent } from "./component.ts";

/** Runs snippets as the body of a component's `run`, in a real isolate of a real child; loopback may be reached. */
export interface Snippets {
  /** What the snippet returns, after a trip through JSON. Rejects with the error that it threw. */
  evaluate(code: string, modules?: string): Promise<unknown>;
  execute(code: string, modules?: string): Promise<Execution>;
  stop(): Promise<void>;
}

export async function startSnippets(egressAllow: readonly string[] = ["127.0.0.0/8", "::1/128"]): Promise<Snippets> {
  const directory = await mkdtemp(join(tmpdir(), "headwater-web-"));
  const sandbox: Sandbox = await createSandbox({
    cacheDirectory: join(tmpdir(), "headwater-web-cache"),
    bundleDirectory: directory,
    children: 1,
    egress: createEgress({ allow: egressAllow }),
  });
  let count = 0;

  async function execute(code: string, modules = ""): Promise<Execution> {
    count += 1;
    const bundle = await bundleComponent(directory, `${modules}\nexport default { name: "snippet", async run() {\n${code}\n} };`);
    return sandbox.execute({
      source: `dc_${count}`,
      owner: "u_1",
      revision: bundle.hash,
      bundle,
      entry: "run",
      event: "{}",
      props: "{}",
      db: {},
      endpoint: null,
      environment: {},
      limits: { timeoutMs: 15_000, memoryMb: 256 },
    });
  }

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
    async stop() {
      await sandbox.stop(AbortSignal.timeout(0));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The same snippet in Node itself, the oracle. */
export async function evaluateInNode(code: string): Promise<unknown> {
  const run = new Function(`return (async () => {\n${code}\n})()`) as () => Promise<unknown>;
  const text = JSON.stringify(await run());
  return text === undefined ? undefined : JSON.parse(text);
}
