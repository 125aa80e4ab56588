import { spawn } from "node:child_process";

/** A command of a release, as a value, so that tests and dry runs can show it. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

export const command = (program: string, ...args: readonly string[]): Command => ({ program, args });

export const describeCommand = ({ program, args }: Command): string => [program, ...args].join(" ");

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly input?: string;
}

/** Runs a command, in UTC since Helm writes local times, and returns its standard output. @throws with its standard error if it fails */
export function run(started: Command, { cwd, env, input }: RunOptions = {}): Promise<string> {
  const { program, args } = started;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, TZ: "UTC", ...env }, stdio: ["pipe", "pipe", "pipe"] });
    let [output, errors] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    child.once("error", (cause) => reject(new Error(`${program} could not be started: install it, or add it to PATH`, { cause })));
    child.once("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${describeCommand(started)} failed with exit code ${code}: ${errors.trim() || output.trim()}`));
    });
    // A program that ends before it has read its input closes the pipe; its exit code reports the failure.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input ?? "");
  });
}
