import { join } from "node:path";
import { roleNames, type RoleName } from "../platform/process/settings/configuration.ts";
import { serverAddress } from "../platform/process/settings/settings.ts";
import { startChildRole } from "../platform/process/child-role.ts";
import { keepRunning } from "../platform/process/keep-running.ts";
import type { RoleContext, StartRole, StartedRole } from "./context.ts";

interface RoleEntry {
  /**
   * Where the role runs if one process is configured to run several. `child` isolates user code from the API, and keeps endpoints responsive
   * while the API parses large bodies.
   */
  readonly process: "host" | "child";
  readonly needsDatabase: boolean;
  readonly start: StartRole;
}

/** In the order of stopping: roles that accept work first, roles that finish it last. All start at once. */
export const roles: Readonly<Record<RoleName, RoleEntry>> = {
  ingress: { process: "child", needsDatabase: false, start: wired("ingress") },
  api: { process: "host", needsDatabase: true, start: wired("api") },
  operator: { process: "host", needsDatabase: true, start: wired("operator") },
  runner: { process: "child", needsDatabase: false, start: wired("runner") },
  delivery: { process: "host", needsDatabase: true, start: wired("delivery") },
  builder: { process: "child", needsDatabase: false, start: wired("builder") },
};

const stopOrder = Object.keys(roles);

/** Loads the code of a role when the role starts: a runner never loads the API. */
function wired(role: RoleName): StartRole {
  return async (context) => {
    const module: { start: StartRole } = await import(`./roles/${role}.ts`);
    return module.start(context);
  };
}

/** A started role, in this process or in a child process. */
export interface NamedRole extends StartedRole {
  readonly name: RoleName;
  /** Kills the child process. A role in this process ends with the process. */
  kill(): Promise<void>;
}

/** Starts the configured roles. If one fails, the others are stopped and the error is thrown. */
export async function startRoles(context: RoleContext): Promise<readonly NamedRole[]> {
  const wanted = roleNames.filter((name) => context.configuration.roles.includes(name));
  if (shouldPrepare(context, wanted)) {
    const { prepare } = await import("./install/prepare.ts"); // Runners and builders do not load the code of the database.
    await prepare(context);
  }
  const starts = await Promise.allSettled(wanted.map((name) => startRole(name, context, wanted.length === 1)));
  const started = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  started.sort((a, b) => stopOrder.indexOf(a.name) - stopOrder.indexOf(b.name));
  const failed = starts.find((start) => start.status === "rejected");
  if (failed === undefined) {
    // If other processes run some of the roles, this one cannot know when they start.
    if (roleNames.every((name) => wanted.includes(name))) await Promise.all(started.map(async (role) => role.untilUsable?.()));
    return started;
  }
  await stopRoles(started, AbortSignal.timeout(2_000), context);
  throw failed.reason;
}

/** In a cluster setup prepares. With credentials of its own only the operator may create streams, and the other roles wait for them. */
function shouldPrepare({ configuration: { resources, natsCredentialsFile } }: RoleContext, wanted: readonly RoleName[]): boolean {
  const mayCreateStreams = natsCredentialsFile === undefined || wanted.includes("operator");
  return resources === "postgres" && mayCreateStreams && wanted.some((name) => roles[name].process === "host");
}

async function startRole(name: RoleName, context: RoleContext, alone: boolean): Promise<NamedRole> {
  const logger = context.logger.child({ role: name });
  const startedAt = performance.now();
  const role = await startUnlogged(name, { ...context, logger }, alone);
  // The parent process logs the start of a child process.
  if (!alone) logger.info({ op: "role.start", durationMs: Math.round(performance.now() - startedAt) }, `${name} is up`);
  return role;
}

async function startUnlogged(name: RoleName, context: RoleContext, alone: boolean): Promise<NamedRole> {
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
  const env = name === "runner" ? { ...ingressOfRunner(context.configuration), ...process.env } : process.env;
  const start = () => startChildRole({ role: name, main, nats: context.natsOf(name), env, stopTimeoutMs: 6_000 });
  const child = await keepRunning(name, start, logger);
  return { name, kill: () => child.kill(), stop: (signal) => stopChild(child, signal) };
}

/**
 * On one machine the endpoints have a private address, at which code reads files by their URLs. Code may reach the ingress itself, but no proxy
 * in front of it, which may serve others as well.
 */
function ingressOfRunner({ roles: started, ingressUrl, ingressListen: { host, port } }: RoleContext["configuration"]): NodeJS.ProcessEnv {
  const url = new URL(ingressUrl);
  const isItself = started.includes("ingress") && url.hostname.replace(/^\[|\]$/g, "") === host && Number(url.port) === port;
  // Not for a name such as localhost, which may have other addresses tomorrow.
  return isItself && serverAddress.safeParse(url.host).success ? { HEADWATER_EGRESS_SERVER: url.host } : {};
}

async function stopChild(child: { stop(): Promise<void>; kill(): Promise<void> }, signal: AbortSignal): Promise<void> {
  const kill = (): void => void child.kill();
  if (signal.aborted) return child.kill();
  signal.addEventListener("abort", kill, { once: true });
  await child.stop();
  signal.removeEventListener("abort", kill);
}

/** Stops one role after the other. A role that is still stopping shortly after `signal` has aborted is abandoned. */
export async function stopRoles(started: readonly NamedRole[], signal: AbortSignal, context: RoleContext): Promise<void> {
  for (const role of started) {
    try {
      await Promise.race([role.stop(signal), shortlyAfter(signal)]);
    } catch (error) {
      context.logger.error({ op: "role.stop", role: role.name, err: error }, `${role.name} did not stop cleanly`);
    }
  }
}

const graceMs = 200;

function shortlyAfter(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wait = (): void => void setTimeout(resolve, graceMs).unref();
    if (signal.aborted) wait();
    else signal.addEventListener("abort", wait, { once: true });
  });
}
