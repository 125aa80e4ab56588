import { spawn, type ChildProcess } from "node:child_process";

/** Signal for a graceful shutdown; undefined for a process that ends by itself when its parent is gone. */
export type EndSignal = "SIGTERM" | "SIGINT" | undefined;

/**
 * Reads `+ <pid> <signal>` and `- <pid>` until its input ends, which means that the other process has died. Then sends each remaining
 * process its signal (0 sends none), and kills the rest after eight seconds. Drops ended processes within a tenth of a second, so that a
 * reused process id is never signalled.
 */
const script = `
list=
while read -r verb pid signal; do
  case "$verb" in
    +) list="$list $pid:$signal" ;;
    -) kept=
       for each in $list; do [ "\${each%%:*}" = "$pid" ] || kept="$kept $each"; done
       list=$kept ;;
  esac
done
for each in $list; do kill -s "\${each##*:}" "\${each%%:*}" 2>/dev/null; done
rounds=0
while [ -n "$list" ]; do
  kept=
  for each in $list; do kill -s 0 "\${each%%:*}" 2>/dev/null && kept="$kept $each"; done
  list=$kept
  rounds=$((rounds + 1))
  if [ $rounds -ge 80 ]; then
    for each in $list; do kill -s KILL "\${each%%:*}" 2>/dev/null; done
    exit
  fi
  [ -z "$list" ] || sleep 0.1
done
`;

const restartAfterMs = 1_000;

/**
 * A shell that ends our child processes when this process dies, however it dies: it waits for the end of a pipe that only this process
 * holds. Its own session keeps a Ctrl-C or a kill of our process group from reaching it. It needs at most 1 MB.
 *
 * Not available without a POSIX shell (Windows, the container image); a container ends with its first process.
 */
export class Watchdog {
  readonly #watched = new Map<number, EndSignal>();
  #shell: ChildProcess | undefined;

  watch(pid: number, signal: EndSignal): void {
    this.#watched.set(pid, signal);
    if (this.#shell === undefined) this.#start();
    else this.#write(`+ ${line(pid, signal)}`);
  }

  forget(pid: number): void {
    if (this.#watched.delete(pid)) this.#write(`- ${pid}\n`);
  }

  #start(): void {
    if (process.platform === "win32") return;
    const shell = spawn("sh", ["-c", script, "headwater-watchdog"], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    });
    this.#shell = shell;
    shell.on("error", () => undefined); // There is no shell.
    shell.stdin.on("error", () => undefined); // It has ended; `exit` follows.
    shell.once("exit", () => setTimeout(() => this.#start(), restartAfterMs).unref());
    shell.unref();
    if ("unref" in shell.stdin && typeof shell.stdin.unref === "function") shell.stdin.unref();
    for (const [pid, signal] of this.#watched) this.#write(`+ ${line(pid, signal)}`);
  }

  #write(text: string): void {
    this.#shell?.stdin?.write(text);
  }
}

const line = (pid: number, signal: EndSignal): string => `${pid} ${signal === undefined ? "0" : signal.slice("SIG".length)}\n`;
