import { spawn } from "node:child_process";
import { once } from "node:events";
import { hasEnded } from "./child.ts";
import { until } from "./until.ts";

/** A program in a terminal of its own. */
export interface TerminalProgram {
  /** What the terminal has shown, without control sequences. What replaces erased text, such as that of progress, is on a line of its own. */
  readonly screen: () => string;
  type(text: string): void;
  untilShown(pattern: RegExp): Promise<void>;
  /** The exit code of the program. */
  ended(): Promise<number | null>;
  kill(): void;
}

/** Copies between standard input and output and a pseudo-terminal of the given width, and ends with the exit code of the program. */
const bridge = `
import os, pty, sys, select, fcntl, termios, struct
columns, program = int(sys.argv[1]), sys.argv[2:]
pid, master = pty.fork()
if pid == 0:
    # Before the program can ask for it.
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    os.execvp(program[0], program)
inputs = [master, 0]
while True:
    ready, _, _ = select.select(inputs, [], [])
    if master in ready:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        if data:
            os.write(master, data)
        else:
            inputs = [master]
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
`;

// oxlint-disable-next-line no-control-regex -- Control sequences begin with one.
const erasures = /\u001b\[[0-3]?[JK]/g;
// oxlint-disable-next-line no-control-regex -- Control sequences begin with one.
const controlSequences = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[@-_])/g;

/** Starts a program in a pseudo-terminal, for which it needs python3. */
export function startInTerminal(
  command: readonly string[],
  { cwd, env, columns = 100 }: { readonly cwd: string; readonly env: Readonly<Record<string, string>>; readonly columns?: number },
): TerminalProgram {
  const child = spawn("python3", ["-c", bridge, String(columns), ...command], {
    cwd,
    env: { TERM: "xterm-256color", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.on("error", () => {}); // It may have ended without reading.
  const closed = once(child, "close");
  const screen = (): string => output.replaceAll(erasures, "\n").replaceAll(controlSequences, "").replaceAll("\r", "");
  return {
    screen,
    type: (text) => void child.stdin.write(text),
    untilShown: (pattern) => until(() => pattern.test(screen()) || hasEnded(child), `the terminal shows ${pattern}`, { more: screen }),
    ended: async () => {
      await closed;
      return child.exitCode;
    },
    kill: () => void child.kill("SIGKILL"),
  };
}
