import { spawn } from "node:child_process";
import { Unavailable } from "../../../domain/errors.ts";

const maxShownCharacters = 500;

interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

/** Runs a program that installs something. @throws Unavailable with the end of what it wrote to standard error */
export function runProgram(program: string, args: readonly string[], { env, timeoutMs }: RunOptions): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { env, stdio: ["ignore", "ignore", "pipe"], timeout: timeoutMs });
    const name = `${program} ${args.find((arg) => /^[a-z]+$/.test(arg)) ?? ""}`.trim();
    let output = "";
    child.stderr.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(-maxShownCharacters)));
    child.once("error", (error) => fail(new Unavailable(`${program} could not be run (${error.message})`)));
    child.once("close", (code) => (code === 0 ? done() : fail(new Unavailable(`${name} failed: ${output.trim() || `exit code ${code}`}`))));
  });
}
