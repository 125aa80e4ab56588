import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..");

/** A program that exits with 0 when the source is correct. */
export interface Check {
  readonly name: string;
  /** Path of its program from node_modules, and arguments. */
  readonly command: readonly [program: string, ...args: string[]];
}

/** Checks the types of a project. What has not changed since the last check is not checked again. */
const types = (project: string): Check["command"] => {
  const info = `.headwater/types/${project}.tsbuildinfo`;
  return ["typescript/bin/tsc", "-p", project, "--checkers", "2", "--incremental", "--tsBuildInfoFile", info];
};

export const checks: readonly Check[] = [
  { name: "types", command: types("tsconfig.json") },
  ...(existsSync(join(root, "runner/sandbox/guest"))
    ? [{ name: "types of the guest", command: types("tsconfig.guest.json") } as const]
    : []),
  { name: "types of the console", command: types("tsconfig.console.json") },
  { name: "lint", command: ["oxlint/bin/oxlint", "--type-aware", "--quiet"] },
  { name: "format", command: ["oxfmt/bin/oxfmt", "--check"] },
  { name: "generated files", command: ["../scripts/generate.ts", "--check"] },
];

export const unusedCode: Check = { name: "unused code", command: ["knip/bin/knip.js"] };

export interface FailedCheck {
  readonly name: string;
  readonly output: string;
}

/** Runs checks one after the other and prints a line for each. The caller prints what failed checks wrote. */
export async function runChecks(selected: readonly Check[]): Promise<{ passed: number; failures: readonly FailedCheck[] }> {
  const failures: FailedCheck[] = [];
  for (const { name, command } of selected) {
    const startedAt = performance.now();
    const { code, output } = await runTool(command);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${code === 0 ? "✓" : "✗"} ${name} (${seconds} s)`);
    if (code !== 0) failures.push({ name, output: output.trimEnd() });
  }
  return { passed: selected.length - failures.length, failures };
}

function runTool([program, ...args]: Check["command"]): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    // The type checkers are Go programs. They end soon, so a larger heap is cheaper than collecting garbage.
    const env = { GOGC: "400", ...process.env };
    const child = spawn(process.execPath, [join(root, "node_modules", program), ...args], { cwd: root, env });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
