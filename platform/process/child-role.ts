import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Unavailable } from "../../domain/errors.ts";
import type { ReportedMetrics } from "../telemetry/metrics.ts";
import type { RoleName } from "./settings/configuration.ts";
import type { RunningProcess } from "./keep-running.ts";
import { formatNatsUrl, type NatsConnection } from "./nats/nats-connection.ts";
import { tracked } from "./own-children.ts";
import { endChild, hasExited } from "./processes.ts";

/** Messages between parent and child. A child that loses its parent drains as well: see `onParentGone`. */
export const childReady = "ready";
export const parentSaysStop = "stop";
const parentAsksForMetrics = "metrics";
const metricsTimeoutMs = 1_000;

/** Roles started by this process that run in processes of their own. */
const running = new Set<ChildProcess>();

export interface ChildRoleOptions {
  readonly role: RoleName;
  /** Path of main.ts. */
  readonly main: string;
  readonly nats: NatsConnection;
  readonly env: NodeJS.ProcessEnv;
  readonly stopTimeoutMs: number;
}

/** isolated-vm crashes when Node starts from its snapshot. The larger semi-space is explained in docs/operations.md, "Memory". */
const flags = ["--no-node-snapshot", "--max-semi-space-size=8"];

/**
 * Starts one role in its own process, with the same main and HEADWATER_ROLES; resolves when it is ready. Its own session keeps a Ctrl-C
 * from reaching it before its turn.
 */
export async function startChildRole(options: ChildRoleOptions): Promise<RunningProcess> {
  const child = fork(options.main, [], {
    env: childEnvironment(options),
    execArgv: flags,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: true,
  });
  tracked(child);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ready = once(child, "message");
  const ended = exited.then(() => {
    const how = child.signalCode ?? `exit code ${child.exitCode}`;
    throw new Unavailable(`the role ${options.role} did not start (${how}); see its log lines`);
  });
  try {
    await Promise.race([ready, ended]);
  } finally {
    // The promise that did not settle is ignored.
    for (const either of [ready, ended]) either.catch(() => undefined);
  }
  if (!hasExited(child)) running.add(child);
  void exited.then(() => running.delete(child));
  return {
    exited,
    stop: async () => {
      if (!hasExited(child) && child.connected) child.send(parentSaysStop, () => undefined);
      await Promise.race([exited, timeoutOf(options.stopTimeoutMs, exited)]);
      await endChild(child, "SIGKILL", 0);
    },
    kill: () => endChild(child, "SIGKILL", 0),
  };
}

/** In a child: responds to its parent's requests for metrics. */
export function reportMetrics(metrics: () => Promise<ReportedMetrics>): void {
  process.on("message", (message) => {
    if (message !== parentAsksForMetrics) return;
    // Without a response the parent omits this child.
    void metrics().then(
      (reported) => process.connected && process.send?.({ metrics: reported }, () => undefined),
      () => undefined,
    );
  });
}

/** Metrics of all running children. Omits a child that is starting or takes longer than a second. */
export async function metricsOfChildren(): Promise<readonly ReportedMetrics[]> {
  const reported = await Promise.all([...running].filter(({ connected }) => connected).map(metricsOf));
  return reported.filter((metrics) => metrics !== undefined);
}

function metricsOf(child: ChildProcess): Promise<ReportedMetrics | undefined> {
  return new Promise((resolve) => {
    const end = (metrics?: ReportedMetrics): void => {
      clearTimeout(timer);
      child.off("message", onMessage);
      resolve(metrics);
    };
    // Only our own code sends messages.
    const onMessage = (message: unknown): void => {
      if (typeof message === "object" && message !== null && "metrics" in message) end(message.metrics as ReportedMetrics);
    };
    const timer = setTimeout(end, metricsTimeoutMs);
    child.on("message", onMessage);
    child.send(parentAsksForMetrics, (error) => error !== null && end());
  });
}

function timeoutOf(ms: number, exited: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void exited.then(() => clearTimeout(timer));
  });
}

/** Inherited variables: paths of programs and certificates, proxies, tracing. Only the builder gets the registry's settings, only the ingress the key of its server. */
const inherited =
  /^(PATH|HOME|USERPROFILE|SystemRoot|TMPDIR|TEMP|TMP|TZ|LANG|LC_.*|NODE_EXTRA_CA_CERTS|NODE_COMPILE_CACHE|SSL_CERT_(FILE|DIR)|(HTTPS?|NO|ALL)_PROXY|OTEL_.*|HEADWATER_.*)$/i;
const inheritedByBuilder = /^npm_config_/i;
const inheritedByIngress = /^HEADWATER_SERVER_/;
const never = /^(DATABASE_URL|HEADWATER_DATABASE_.*|HEADWATER_(S3|SMTP)_(URL|CA)|NATS_URL|HEADWATER_NATS_CREDENTIALS|HEADWATER_ROLES)$/;

/** Runners execute code of others, so they get only what they need, and never the database. */
export function childEnvironment({ role, nats, env }: Pick<ChildRoleOptions, "role" | "nats" | "env">): NodeJS.ProcessEnv {
  const isInherited = (name: string): boolean =>
    !never.test(name) &&
    (role === "ingress" || !inheritedByIngress.test(name)) &&
    (inherited.test(name) || (role === "builder" && inheritedByBuilder.test(name)));
  const kept = Object.entries(env).filter(([name]) => isInherited(name));
  const { credentialsFile } = nats;
  return {
    ...Object.fromEntries(kept),
    HEADWATER_ROLES: role,
    NATS_URL: formatNatsUrl(nats),
    ...(credentialsFile === undefined ? {} : { HEADWATER_NATS_CREDENTIALS: credentialsFile }),
  };
}
