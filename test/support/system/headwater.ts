import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { endChild, hasEnded, outputOf } from "../child.ts";
import { steadyPort } from "../steady-port.ts";
import { until } from "../until.ts";
import { clientOf, type Client } from "./client.ts";
import { surroundings } from "./main-process.ts";

const controlC = "\u0003";
const root = join(import.meta.dirname, "..", "..", "..");

export interface Headwater extends Client {
  readonly pid: number;
  /** Everything printed so far. */
  readonly output: () => string;
  readonly dataDirectory: string;
  /** Ctrl-C; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** kill -9 of the launcher alone. */
  kill(): Promise<void>;
}

export interface HeadwaterOptions {
  readonly dataDirectory: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Ports to use again, as a restart on the same machine does. */
  readonly ports?: { readonly api: number; readonly ingress: number };
  /** Its standard output is a terminal. */
  readonly isInTerminal?: boolean;
}

/** Starts `npm start` with these settings of Headwater and no others in a child, without waiting. */
export function launch(
  env: Readonly<Record<string, string>>,
  { isInTerminal = false }: Pick<HeadwaterOptions, "isInTerminal"> = {},
): { readonly child: ChildProcess; readonly output: () => string } {
  const command = [process.execPath, join(root, "scripts/launch.mjs"), "main.ts"];
  // script(1) runs a command in a terminal of its own, and returns its exit code.
  const inTerminal = ["script", "-qefc", command.map((part) => `'${part}'`).join(" "), "/dev/null"];
  const [program = "", ...args] = isInTerminal ? inTerminal : command;
  const child = spawn(program, args, {
    cwd: root,
    env: { ...surroundings(), ...env },
    stdio: [isInTerminal ? "pipe" : "ignore", "pipe", "pipe"],
  });
  return { child, output: outputOf(child) };
}

/** Starts `npm start` in a child and waits until it prints that it is ready. */
export async function startHeadwater({ dataDirectory, env = {}, ports, isInTerminal = false }: HeadwaterOptions): Promise<Headwater> {
  const api = ports?.api ?? (await steadyPort());
  const ingress = ports?.ingress ?? (await steadyPort());
  const settings = {
    HEADWATER_DATA: dataDirectory,
    HEADWATER_LISTEN: `127.0.0.1:${api}`,
    HEADWATER_INGRESS_LISTEN: `127.0.0.1:${ingress}`,
    HEADWATER_EGRESS_ALLOW: "127.0.0.0/8",
    HEADWATER_LOG_LEVEL: "warn",
    ...env,
  };
  const { child, output } = launch(settings, { isInTerminal });
  try {
    await until(() => output().includes("curl ") || hasEnded(child), "Headwater prints its first lines", { more: output });
  } catch (error) {
    await endChild(child, "SIGKILL"); // main.ts stops when its launcher is gone.
    throw error;
  }
  if (hasEnded(child)) throw new Error(`Headwater did not start (${child.exitCode ?? child.signalCode}):\n${output()}`);
  const key = (await readFile(join(dataDirectory, "api-key"), "utf8")).trim();
  const scheme = env["HEADWATER_SERVER_CERTIFICATE"] === undefined ? "http" : "https";
  const apiUrl = `${scheme}://127.0.0.1:${api}/v1`;
  return {
    ...clientOf(apiUrl, `${scheme}://127.0.0.1:${ingress}`, key),
    pid: child.pid ?? 0,
    output,
    dataDirectory,
    stop: async () => {
      if (isInTerminal) await typeControlC(child);
      else await endChild(child, "SIGINT");
      return child.exitCode;
    },
    kill: () => endChild(child, "SIGKILL"),
  };
}

async function typeControlC(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.stdin?.write(controlC);
  await exited;
}
