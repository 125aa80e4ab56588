import { join } from "node:path";
import { roleNames, type RoleName } from "../platform/process/settings/configuration.ts";
import { startChildRole } from "../platform/process/child-role.ts";
import { keepRunning } from "../platform/process/keep-running.ts";
import type { RoleContext, StartRole, StartedRole } from "./context.ts";

interface RoleEntry {
  /**
   * Where it runs when one process is configured to run several roles. `child` keeps user code away from the API, and endpoints answering
   * while the API parses large bodies.
   */
  readonly process: "host" | "child";
  readonly needsDatabase: boolean;
  readonly start: StartRole;
}

/** The order is that of stopping: what takes work in goes first, what finishes it last. They start all at once. */
export const roles: Readonly<Record<RoleName, RoleEntry>> = {
  ingress: { process: "child", needsDatabase: false, start: wired("ingress") },
  api: { process: "host", needsDatabase: true, start: wired("api") },
  operator: { process: "host", needsDatabase: true, start: wired("operator") },
  runner: { process: "child", needsDatabase: false, start: wired("runner") },
  delivery: { process: "host", needsDatabase: true, start: wired("delivery") },
  builder: { process: "child", needsDatabase: false, start: wired("builder") },
};

const stopOrder = Object.keys(roles);

/** Loaded when its role is started and not before: a runner never loads the API. */
function wired(role: RoleName): StartRole {
  return async (context) => {
    const module: { start: StartRole } = await import(`./roles/${role}.ts`);
    return module.start(context);
  };
}

/** A started role, ready to be ended. */
export interface NamedRole extends StartedRole {
  readonly name: RoleName;
  /** Ends it without a farewell; a role in this process goes with the process. */
  kill(): Promise<void>;
}

/** Starts the roles the configuration names. When one fails, those already started are stopped and the error goes on. */
export async function startRoles(context: RoleContext): Promise<readonly NamedRole[]> {
  const wanted = roleNames.filter((name) => context.configuration.roles.includes(name));
  // In a cluster setup has done so, and the roles may not.
  const { resources, natsCredentialsFile } = context.configuration;
  // With credentials of its own only the operator may make streams; the others wait until they are there.
  const mayPrepare = natsCredentialsFile === undefined || wanted.includes("operator");
  const prepares = resources === "postgres" && mayPrepare && wanted.some((name) => roles[name].process === "host");
  if (prepares) {
    const { prepare } = await import("./install/prepare.ts"); // Not for runners and builders, which reach no database.
    await prepare(context);
  }
  const starts = await Promise.allSettled(wanted.map((name) => startRole(name, context, wanted.length === 1)));
  const started = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  started.sort((a, b) => stopOrder.indexOf(a.name) - stopOrder.indexOf(b.name));
  const failed = starts.find((start) => start.status === "rejected");
  if (failed === undefined) {
    // With roles elsewhere, this process cannot know when they start.
    if (roleNames.every((name) => wanted.includes(name))) await Promise.all(started.map(async (role) => role.untilUsable?.()));
    return started;
  }
  await stopRoles(started, AbortSignal.timeout(2_000), context);
  throw failed.reason;
}

async function startRole(name: RoleName, context: RoleContext, alone: boolean): Promise<NamedRole> {
  const logger = context.logger.child({ role: name });
  const startedAt = performance.now();
  const role = await startQuietly(name, { ...context, logger }, alone);
  // A role in a process of its own is told of by whoever started the process.
  if (!alone) logger.info({ op: "role.start", durationMs: Math.round(performance.now() - startedAt) }, `${name} is up`);
  return role;
}

async function startQuietly(name: RoleName, context: RoleContext, alone: boolean): Promise<NamedRole> {
  const { logger } = context;
  const entry = roles[name];
  if (alone || entry.process === "host") {
    const databaseUrl = entry.needsDatabase ? context.databaseUrlOf(name) : undefined;
    const role = await entry.start({ ...context, nats: context.natsOf(name), databaseUrl });
    return {
      name,
      kill: () => Promise.resolve(),
      stop: (signal) => role.stop(signal),
      checkReady: async () => role.checkReady?.(),
      untilUsable: async () => role.untilUsable?.(),
      lines: role.lines ?? [],
    };
  }
  const main = join(import.meta.dirname, "..", "main.ts");
  const start = () => startChildRole({ role: name, main, nats: context.natsOf(name), env: process.env, stopTimeoutMs: 6_000 });
  const child = await keepRunning(name, start, logger);
  return { name, kill: () => child.kill(), stop: (signal) => stopChild(child, signal) };
}

async function stopChild(child: { stop(): Promise<void>; kill(): Promise<void> }, signal: AbortSignal): Promise<void> {
  const kill = (): void => void child.kill();
  if (signal.aborted) return child.kill();
  signal.addEventListener("abort", kill, { once: true });
  await child.stop();
  signal.removeEventListener("abort", kill);
}

/** One after the other; a role that is still busy a moment after `signal` has aborted is left behind. */
export async function stopRoles(started: readonly NamedRole[], signal: AbortSignal, context: RoleContext): Promise<void> {
  for (const role of started) {
    try {
      await Promise.race([role.stop(signal), shortlyAfter(signal)]);
    } catch (error) {
      context.logger.error({ op: "role.stop", role: role.name, err: error }, `${role.name} did not stop cleanly`);
    }
  }
}

const lastMomentMs = 200;

function shortlyAfter(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wait = (): void => void setTimeout(resolve, lastMomentMs).unref();
    if (signal.aborted) wait();
    else signal.addEventListener("abort", wait, { once: true });
  });
}
