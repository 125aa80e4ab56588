import { flushCompileCache } from "node:module";
import { resolve } from "node:path";
import { HeadwaterError, InvalidInput } from "./domain/errors.ts";
import type { Traces } from "./domain/traces.ts";
import { platformVersion } from "./domain/version.ts";
import { childReady, metricsOfChildren, parentSaysStop, reportMetrics } from "./platform/process/child-role.ts";
import { describeConfiguration, parseConfiguration, type Configuration } from "./platform/process/settings/configuration.ts";
import { guardOwnChildren, killOwnChildren } from "./platform/process/own-children.ts";
import { startServers, type Servers } from "./platform/process/servers.ts";
import { processMetrics } from "./platform/telemetry/metrics.ts";
import { createLogger, type Logger } from "./platform/telemetry/logger.ts";
import type { RoleContext } from "./wiring/context.ts";
import { startHealth } from "./wiring/health.ts";
import { tracesOf } from "./wiring/traces.ts";
import { roles, startRoles, stopRoles } from "./wiring/start-roles.ts";

const sameRequestMs = 250;

/** True in a role that a parent process started: it reports to the parent when it is ready, and stops when the parent ends. */
const isChild = process.send !== undefined;

const help = `Usage: npm start [-- --help | --version | --setup | --rotate-key | --backup DIR [--keep N] | --restore DIR]

Starts Headwater. Without settings it starts everything that it needs on this machine.
Settings are environment variables:

${describeConfiguration()}
`;

interface Headwater {
  readonly lines: readonly string[];
  drain(): Promise<void>;
  kill(): Promise<void>;
}

function contextOf(configuration: Configuration, servers: Servers, logger: Logger, traces?: Traces): RoleContext {
  const dataDirectory = resolve(configuration.dataDirectory);
  const { nats, natsOf, databaseUrl, databaseUrlOf, databasePasswords } = servers;
  return {
    configuration,
    nats,
    natsOf,
    databaseUrl,
    databaseUrlOf,
    databasePasswords,
    dataDirectory,
    logger,
    traces,
  };
}

async function start(configuration: Configuration, logger: Logger): Promise<Headwater> {
  const needsDatabase = configuration.roles.some((role) => roles[role].needsDatabase);
  const health = await startHealth(isChild ? undefined : configuration.healthListen);
  const servers = await startServers({ configuration, needsDatabase, logger });
  const traces = await tracesOf(configuration, platformVersion, logger);
  const context = contextOf(configuration, servers, logger, traces);
  const started = await startRoles(context).catch(async (error: unknown) => {
    await servers.stop();
    throw error;
  });
  health.started(started, context);
  return {
    lines: started.flatMap((role) => role.lines ?? []),
    drain: async () => {
      health.drains();
      await stopRoles(started, AbortSignal.timeout(configuration.stopTimeoutMs), context);
      await traces?.stop();
      await servers.stop();
      await health.stop();
    },
    kill: async () => {
      await Promise.allSettled([...started.map((role) => role.kill()), servers.kill()]);
    },
  };
}

/**
 * The first request to stop drains, the second ends everything at once. During the start there is nothing to drain: the first
 * request ends everything, and the next start recovers as after a crash.
 */
function stopOnRequest(running: Promise<Headwater>, logger: Logger): void {
  let requests = 0;
  let requestedAt = Number.NEGATIVE_INFINITY;
  let headwater: Headwater | undefined;
  const remember = (started: Headwater): void => void (headwater = started);
  running.then(remember, () => undefined); // main() reports a failure.
  const stop = async (why: string, exitCode: number): Promise<void> => {
    // A terminal, npm and the launcher may each forward the same Ctrl-C.
    const again = performance.now() - requestedAt > sameRequestMs;
    if (requests > 0 && !again) return;
    requestedAt = performance.now();
    requests++;
    if (requests > 2) process.exit(exitCode);
    if (headwater === undefined || requests > 1) {
      await headwater?.kill();
      killOwnChildren();
      process.exit(130);
    }
    logger[isChild ? "debug" : "info"]({ op: "process.stop", why }, "stopping; a second request ends everything at once");
    await headwater.drain();
    process.exit(exitCode);
  };
  const request = (why: string, exitCode = 0): void => void stop(why, exitCode).catch(() => process.exit(1));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => request(signal));
  process.on("uncaughtException", (error) => {
    logger.fatal({ op: "process.crash", err: error }, "an error was not caught");
    request("uncaught error", 1);
  });
  onLauncherExit(() => request("the launcher ended"));
  if (!isChild) return;
  process.on("message", (message) => message === parentSaysStop && request("parent"));
  process.on("disconnect", () => request("the parent ended"));
}

const launcherCheckMs = 500;

/** `scripts/launch.mjs` forwards signals to this process. Once it was killed, no signal would arrive. */
function onLauncherExit(act: () => void): void {
  const launcher = process.ppid;
  if (process.env["LAUNCHER_PID"] !== String(launcher)) return;
  const timer = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(timer);
    act();
  }, launcherCheckMs).unref();
}

async function backUpOnce(
  configuration: Configuration,
  logger: Logger,
  action: NonNullable<ReturnType<typeof backupAction>>,
): Promise<void> {
  const servers = await startServers({ configuration, needsDatabase: true, logger });
  try {
    const context = contextOf(configuration, servers, logger);
    const { saveBackup } = await import("./wiring/backup/save.ts");
    const { restoreBackup } = await import("./wiring/backup/restore.ts");
    const { kind, directory } = action;
    const done = kind === "save" ? saveBackup(context, { parent: directory, keep: action.keep }) : restoreBackup(context, directory);
    process.stdout.write(`${await done}\n`);
  } finally {
    await servers.stop();
  }
}

async function setUpOnce(configuration: Configuration, logger: Logger): Promise<void> {
  const servers = await startServers({ configuration, needsDatabase: true, logger });
  try {
    const { setUp } = await import("./wiring/install/install.ts");
    await setUp(contextOf(configuration, servers, logger));
  } finally {
    await servers.stop();
  }
}

type BackupAction =
  | { readonly kind: "save"; readonly directory: string; readonly keep: number | undefined }
  | { readonly kind: "restore"; readonly directory: string };

/** `--backup DIR [--keep N]` and `--restore DIR`. */
function backupAction(): BackupAction | undefined {
  const valueOf = (option: string, example: string): string | undefined => {
    const at = process.argv.indexOf(option);
    const value = at === -1 ? undefined : process.argv[at + 1];
    if (at !== -1 && value === undefined) throw new InvalidInput(`${option} needs a value: ${option} ${example}`);
    return value;
  };
  const [parent, directory, keep] = [valueOf("--backup", "backups"), valueOf("--restore", "backups/NAME"), valueOf("--keep", "7")];
  if (keep !== undefined && !/^[1-9]\d{0,5}$/.test(keep)) throw new InvalidInput(`--keep '${keep}' is invalid: use a number from 1 on`);
  if (parent !== undefined) return { kind: "save", directory: resolve(parent), keep: keep === undefined ? undefined : Number(keep) };
  return directory === undefined ? undefined : { kind: "restore", directory: resolve(directory) };
}

async function main(): Promise<void> {
  if (process.argv.includes("--help")) return void process.stdout.write(help);
  if (process.argv.includes("--version")) return void process.stdout.write(`${platformVersion}\n`);
  const backup = backupAction();
  const task = backup !== undefined ? "backup" : process.argv.includes("--setup") ? "setup" : undefined;
  const configuration = parseConfiguration(task === undefined ? process.env : { ...process.env, HEADWATER_ROLES: task });
  if (configuration.backsUp && backup === undefined)
    throw new InvalidInput("HEADWATER_ROLES is backup: start it with --backup DIR or --restore DIR");
  if (process.argv.includes("--rotate-key")) {
    const { rotateKey } = await import("./platform/secrets/rotate-key.ts");
    return void process.stdout.write(`${await rotateKey(configuration)}\n`);
  }
  const logger = createLogger({ level: configuration.logLevel });
  if (configuration.hostsSandbox) {
    const { hostSandbox } = await import("./wiring/sandbox-host.ts");
    await hostSandbox(configuration, logger);
    process.exit(0);
  }
  if (isChild) reportMetrics(() => processMetrics().getMetricsAsJSON());
  else {
    guardOwnChildren();
    processMetrics().addChildren(metricsOfChildren);
  }
  if (backup !== undefined) return backUpOnce(configuration, logger, backup);
  if (configuration.setsUp) return setUpOnce(configuration, logger);
  const running = start(configuration, logger);
  stopOnRequest(running, logger);
  const { lines } = await running;
  if (lines.length > 0) process.stdout.write(`\n${lines.join("\n")}\n`);
  process.send?.(childReady);
  // Write it now: after a crash the next start would otherwise compile everything again.
  flushCompileCache();
}

main().catch((error: unknown) => {
  // A HeadwaterError says what to do. Any other error is a defect and needs its stack.
  process.stderr.write(`${error instanceof HeadwaterError ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
