import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { endChild, hasEnded, outputOf } from "../child.ts";
import { until } from "../until.ts";

const thisCheckout = join(import.meta.dirname, "..", "..", "..");

/** `main.ts` in a process of its own, with one role or several. */
export interface MainProcess {
  readonly pid: number;
  /** Everything printed so far. */
  output(): string;
  /** Sends the signal unless it has ended, and resolves when it has. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

export interface MainOptions {
  /** Other settings of Headwater in the environment of this process are not passed on. */
  readonly env: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Options of Node. */
  readonly flags?: readonly string[];
  /** Folder of the version, with its node_modules. Default: this one. */
  readonly checkout?: string;
  readonly onOutput?: (text: string) => void;
}

/** As `npm start` starts it. */
const defaultFlags = ["--no-node-snapshot", "--max-semi-space-size=8"];

/**
 * Resolves when the process is ready: with HEADWATER_HEALTH_LISTEN when `/readyz` returns 200, otherwise when it notifies its parent.
 * @throws with its output when it ends before; ends it when it is not ready in time
 */
export async function startMain(options: MainOptions): Promise<MainProcess> {
  const health = options.env["HEADWATER_HEALTH_LISTEN"];
  const { child, output } = spawnMain(options, health === undefined ? "ipc" : "ignore");
  const ready =
    health === undefined
      ? once(child, "message")
      : until(async () => hasEnded(child) || (await isHealthy(health)), "ready", { more: output });
  try {
    await Promise.race([ready, once(child, "exit")]);
  } catch (error) {
    await endChild(child, "SIGKILL");
    throw error;
  }
  if (hasEnded(child)) throw new Error(`main.ts with the roles ${options.env["HEADWATER_ROLES"]} ended:\n${output()}`);
  return {
    pid: child.pid ?? 0,
    output,
    end: (signal) => endChild(child, signal),
  };
}

/** Runs a command of `main.ts`, such as `--setup`, to its end. @throws with its output when it fails */
export async function runMain(options: MainOptions): Promise<void> {
  const { child, output } = spawnMain(options, "ignore");
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`main.ts ${options.args?.join(" ")} ended with ${code}:\n${output()}`);
}

/** @param channel to the parent: while it is open, the process does not end by itself */
function spawnMain(
  { env, args = [], flags = defaultFlags, checkout = thisCheckout, onOutput }: MainOptions,
  channel: "ipc" | "ignore",
): { readonly child: ChildProcess; readonly output: () => string } {
  const child = spawn(process.execPath, [...flags, join(checkout, "main.ts"), ...args], {
    cwd: checkout,
    env: { ...surroundings(), HEADWATER_EGRESS_ALLOW: "127.0.0.0/8", HEADWATER_LOG_LEVEL: "warn", ...env },
    stdio: ["ignore", "pipe", "pipe", channel],
  });
  return { child, output: outputOf(child, onOutput) };
}

/** The environment of this process without the settings of Headwater, which must change neither tests nor figures. */
export function surroundings(): NodeJS.ProcessEnv {
  const ours = /^(HEADWATER_(?!NATS_SERVER)|NATS_URL|DATABASE_URL|NODE_OPTIONS|KUBE)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}

const isHealthy = (address: string): Promise<boolean> =>
  fetch(`http://${address}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
