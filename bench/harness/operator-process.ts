import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../platform/process/free-port.ts";
import { surroundings } from "./system.ts";

const root = join(import.meta.dirname, "..", "..");
const startTimeoutMs = 900_000;

export interface OperatorProcess {
  readonly pid: number;
  /** Resolves when it has looked at so many sources and nothing waits any more. @returns ms since the process was started */
  untilIdle(sources: number): Promise<number>;
  /** Resident set now and at most so far, bytes. */
  memory(): { readonly now: number; readonly most: number };
  stop(): Promise<void>;
}

/** Runs main.ts with these settings until it ends. */
export async function runToEnd(env: Readonly<Record<string, string>>): Promise<void> {
  const child = launch(env);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`main.ts ended with ${String(code)}`);
}

/** The role operator in a process of its own; ready when its probe says so. */
export async function startOperator(env: Readonly<Record<string, string>>): Promise<OperatorProcess> {
  const port = await freePort();
  const startedAt = performance.now();
  const child = launch({ ...env, HEADWATER_ROLES: "operator", HEADWATER_HEALTH_LISTEN: `127.0.0.1:${port}` });
  const pid = child.pid ?? 0;
  const ask = async (path: string): Promise<string | undefined> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
    const text = await response?.text();
    return response?.ok === true ? text : undefined;
  };
  const until = async (done: () => Promise<boolean>): Promise<number> => {
    while (!(await done())) {
      if (child.exitCode !== null) throw new Error(`the operator ended with ${child.exitCode}`);
      if (performance.now() - startedAt > startTimeoutMs) throw new Error("the operator does not come to rest");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return performance.now() - startedAt;
  };
  await until(async () => (await ask("/readyz")) !== undefined);
  return {
    pid,
    untilIdle: (sources) =>
      until(async () => {
        const metrics = (await ask("/metrics")) ?? "";
        const of = (name: string): number =>
          Number(new RegExp(`^headwater_controller_${name}\\{controller="source"\\} (\\d+)`, "m").exec(metrics)?.[1] ?? 0);
        return of("reconcile_seconds_count") >= sources && of("queue_depth") === 0;
      }),
    memory: () => {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0) * 1_024;
      return { now: bytes("VmRSS"), most: bytes("VmHWM") };
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

function launch(env: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(process.execPath, ["--no-node-snapshot", join(root, "main.ts")], {
    cwd: root,
    env: { ...surroundings(), HEADWATER_LOG_LEVEL: "warn", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout?.on("data", (chunk: Buffer) => process.stderr.write(chunk.toString().slice(0, 500)));
  return child;
}
