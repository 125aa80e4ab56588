import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../platform/process/free-port.ts";
import type { RoleName } from "../../platform/process/settings/configuration.ts";
import { surroundings } from "./system.ts";

const root = join(import.meta.dirname, "..", "..");
const untilTimeoutMs = 3_600_000;

/** One role in a process of its own. */
export interface RoleProcess {
  readonly pid: number;
  /** From the start of the process until its probe reported that it is ready. */
  readonly readyMs: number;
  /** Resolves when the condition on the process's metrics holds. @returns ms since the process was started */
  until(isDone: (metrics: Metrics) => boolean): Promise<number>;
  /** Resident set now and at most so far, bytes. */
  memory(): { readonly now: number; readonly most: number };
  stop(): Promise<void>;
}

/** The value of the metric with these labels, as Prometheus' text shows it; NaN if it is absent. */
export type Metrics = (nameAndLabels: string) => number;

/** Runs main.ts with these settings until it ends. */
export async function runToEnd(env: Readonly<Record<string, string>>): Promise<void> {
  const child = launch(env);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`main.ts ended with ${String(code)}`);
}

/** Resolves when the process is ready. */
export async function startRole(role: RoleName, env: Readonly<Record<string, string>>): Promise<RoleProcess> {
  const port = await freePort();
  const startedAt = performance.now();
  const child = launch({ ...env, HEADWATER_ROLES: role, HEADWATER_HEALTH_LISTEN: `127.0.0.1:${port}` });
  const pid = child.pid ?? 0;
  const read = async (path: string): Promise<string | undefined> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
    const text = await response?.text();
    return response?.ok === true ? text : undefined;
  };
  const until = async (isDone: () => Promise<boolean>): Promise<number> => {
    while (!(await isDone())) {
      if (child.exitCode !== null) throw new Error(`the role ${role} ended with ${child.exitCode}`);
      if (performance.now() - startedAt > untilTimeoutMs) throw new Error(`the role ${role} does not come to rest`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return performance.now() - startedAt;
  };
  const readyMs = await until(async () => (await read("/readyz")) !== undefined);
  return {
    pid,
    readyMs,
    until: (isDone) => until(async () => isDone(metricsIn((await read("/metrics")) ?? ""))),
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

function metricsIn(text: string): Metrics {
  const values = new Map(text.split("\n").map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]));
  return (nameAndLabels) => Number(values.get(nameAndLabels));
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
