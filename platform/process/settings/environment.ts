import { z } from "zod";
import {
  baseUrl,
  byteSize,
  cidrList,
  kubernetesName,
  listenAddress,
  natsAddresses,
  optionalSetting,
  postgresAddress,
  setting,
  share,
  trustedProxies,
  userId,
  waitOrNever,
  waits,
  wholeNumber,
} from "./settings.ts";

export const roleNames = ["ingress", "api", "operator", "delivery", "runner", "builder"] as const;
export type RoleName = (typeof roleNames)[number];

/** Not a role: the one-time installation steps before roles start in a cluster. */
export const setUp = "setup";

const roles = z.string().transform((text, context): readonly RoleName[] | typeof setUp => {
  const names = text.split(",").map((name) => name.trim());
  if (names.length === 1 && names[0] === setUp) return setUp;
  const unknown = names.filter((name) => name !== "all" && !roleNames.some((role) => role === name));
  for (const name of unknown) context.addIssue(`'${name}' is no role: choose among ${roleNames.join(", ")}, or all`);
  return names.includes("all") ? roleNames : roleNames.filter((role) => names.includes(role));
});

const number = { unit: "number" } as const;

/** All settings from the environment, in the order of `--help`. */
export const environment = z.object({
  HEADWATER_ROLES: setting(roles, {
    unit: "roles, by comma",
    default: "all",
    reason: `what this process does: ${roleNames.join(", ")}; in a cluster each has its own. ${setUp}: make what a cluster's installation needs, and end`,
  }),
  HEADWATER_RESOURCES: setting(z.enum(["postgres", "kubernetes"]), {
    unit: "postgres or kubernetes",
    default: "postgres",
    reason: "where sources and all other resources are kept; a cluster is that of the pod, else the one in KUBECONFIG",
  }),
  HEADWATER_NAMESPACE: optionalSetting(kubernetesName, {
    unit: "name",
    reason: "namespace of the installation in the cluster; the pod's own, or that of the kubeconfig's context, when unset",
  }),
  HEADWATER_POD_NAME: optionalSetting(z.string(), {
    unit: "name",
    reason: "by which this process is told from its like in leader election; made of the host's name when unset",
  }),
  HEADWATER_RUNNER_PODS: optionalSetting(z.string(), {
    unit: "file",
    reason: "JSON of what all runner pods have in common; unset, the operator makes none",
  }),
  HEADWATER_POOL: setting(kubernetesName, {
    unit: "name",
    default: "default",
    reason: "pool that this process runs sources of, when it is a runner",
  }),
  HEADWATER_LISTEN: setting(listenAddress, {
    unit: "host:port",
    default: "127.0.0.1:3000",
    reason: "API, /healthz, /readyz, /metrics; loopback until you decide otherwise",
  }),
  HEADWATER_INGRESS_LISTEN: setting(listenAddress, {
    unit: "host:port",
    default: "127.0.0.1:3001",
    reason: "HTTP endpoints of sources; apart from the API, so that it can be public alone",
  }),
  HEADWATER_HEALTH_LISTEN: optionalSetting(listenAddress, {
    unit: "host:port",
    reason: "/healthz, /readyz and /metrics of whatever this process does; none when unset",
  }),
  HEADWATER_PUBLIC_URL: optionalSetting(baseUrl, {
    unit: "URL",
    reason: "base of the API addresses we hand out; from the listener when unset",
  }),
  HEADWATER_INGRESS_URL: optionalSetting(baseUrl, {
    unit: "URL",
    reason: "base of the endpoints we hand out to sources; from the listener when unset",
  }),
  HEADWATER_TRUSTED_PROXIES: setting(trustedProxies, {
    unit: "CIDRs, by comma, or a number",
    default: "",
    reason:
      "proxies in front of the API and the endpoints whose X-Forwarded-For, -Proto and -Port are believed; a number believes so many hops",
  }),
  HEADWATER_MAX_CONNECTIONS: setting(wholeNumber(16, 1_000_000), {
    ...number,
    default: "4096",
    reason: "connections that the API, and the ingress, each keep open; half of them for one network of clients",
  }),
  HEADWATER_DATA: setting(z.string(), {
    unit: "directory",
    default: ".headwater",
    reason: "everything kept by an embedded start",
  }),
  HEADWATER_KEYS: optionalSetting(z.string(), {
    unit: "directory",
    reason: "keys that secrets are sealed with, and those of the message server; the data directory's keys when unset",
  }),
  HEADWATER_EGRESS_ALLOW: setting(cidrList, {
    unit: "CIDRs, by comma",
    default: "",
    reason: "private networks that user code and webhooks may reach; none, since user code is not trusted",
  }),
  NATS_URL: optionalSetting(natsAddresses, {
    unit: "nats://[user:password@]host:port",
    reason: "a nats-server 2.14 or later of your own, with JetStream; started for you when unset",
    secret: true,
  }),
  HEADWATER_NATS_CREDENTIALS: optionalSetting(z.string(), {
    unit: "file",
    reason: "credentials (JWT and seed) for the message server at NATS_URL; none when unset",
  }),
  HEADWATER_STREAM_REPLICAS: setting(wholeNumber(1, 5), {
    ...number,
    default: "1",
    reason: "servers that each keep the streams; 3 survive the loss of one",
  }),
  HEADWATER_STORE_SIZE: optionalSetting(byteSize, {
    unit: "size, such as 8Gi",
    reason:
      "what streams may take of each NATS server's disk; each stream refuses what goes beyond its share. Unset: by the disk of the server we start, 8Gi of others",
  }),
  DATABASE_URL: optionalSetting(postgresAddress, {
    unit: "postgres://user:password@host:port/name",
    reason: "a Postgres of your own; started for you when unset",
    secret: true,
  }),
  HEADWATER_NATS_SERVER: optionalSetting(z.string(), {
    unit: "file",
    reason: "the nats-server to start; looked for on PATH when unset",
  }),
  HEADWATER_SYNC_INTERVAL: setting(z.enum(["always", "100ms"]), {
    unit: "always or 100ms",
    default: "always",
    reason: "when the nats-server we start syncs to disk; 100ms is faster and loses that much on a power failure",
  }),
  HEADWATER_RUN_TIMEOUT: setting(wholeNumber(1, 3_600), {
    unit: "seconds",
    default: "300",
    reason: "longest time a run may take",
  }),
  HEADWATER_RUN_MEMORY: setting(wholeNumber(16, 4_096), {
    unit: "MB",
    default: "256",
    reason: "largest heap of a source",
  }),
  HEADWATER_HTTP_BODY_LIMIT: setting(wholeNumber(1_024, 4 * 1_048_576), {
    unit: "bytes",
    default: "524288",
    reason: "largest body an endpoint takes; above it 413. It travels in a message of at most 8 MB",
  }),
  HEADWATER_KEEP_EVENTS: setting(wholeNumber(1, 100_000), {
    ...number,
    default: "100",
    reason: "events kept of each source",
  }),
  HEADWATER_KEEP_LOGS: setting(wholeNumber(1, 100_000), {
    ...number,
    default: "100",
    reason: "log entries and errors kept of each source",
  }),
  HEADWATER_STREAMS_PER_KEY: setting(wholeNumber(1, 100_000), {
    ...number,
    default: "1000",
    reason: "live streams that one API key may have open at a time, per process of the API; above it 429",
  }),
  HEADWATER_BACKLOG_PER_SOURCE: setting(wholeNumber(1, 10_000_000), {
    ...number,
    default: "2048",
    reason: "invocations of one source that wait, or 32 MiB of them, before its endpoint answers 429",
  }),
  HEADWATER_BACKLOG_PER_OWNER: setting(wholeNumber(1, 10_000_000), {
    ...number,
    default: "8192",
    reason: "invocations of one user or organization that wait, or 128 MiB of them, before their endpoints answer 429",
  }),
  HEADWATER_SANDBOX_CHILDREN: setting(wholeNumber(0, 64), {
    ...number,
    default: "0",
    reason: "processes that hold isolates, per runner; 0: one per core",
  }),
  HEADWATER_SANDBOX_OWNERS: setting(wholeNumber(0, 256), {
    ...number,
    default: "0",
    reason: "above 0 each owner's runs have a process of their own, at most so many at once, per runner; 0: owners share processes",
  }),
  HEADWATER_RUNS_PER_OWNER: setting(wholeNumber(1, 10_000), {
    ...number,
    default: "100",
    reason: "runs of one user or organization at once, per runner; what is beyond waits, and nothing of others with it",
  }),
  HEADWATER_DELIVERY_RETRY: optionalSetting(waits, {
    unit: "waits, by comma",
    reason: "waits before each further attempt, such as 5s,1m,1h; ten attempts in about a day when unset",
  }),
  HEADWATER_WEBHOOK_DISABLE_AFTER: setting(waitOrNever, {
    unit: "wait, or never",
    default: "5d",
    reason: "a webhook at whose endpoint nothing has arrived for so long is disabled; one that answers 410 Gone is at once",
  }),
  HEADWATER_DELIVERY_PROXY: optionalSetting(baseUrl, {
    unit: "http://[user:password@]host:port",
    reason: "HTTP proxy that all posts to webhooks go through; it then decides which addresses names may lead to. None when unset",
    secret: true,
  }),
  HEADWATER_STOP_TIMEOUT: setting(wholeNumber(1, 3_600), {
    unit: "seconds",
    default: "6",
    reason: "longest time that what is under way may take when this process is asked to stop",
  }),
  HEADWATER_OWNER_USERNAME: setting(z.string().min(1), {
    unit: "text",
    default: "local",
    reason: "name of the first user, whom setup makes",
  }),
  HEADWATER_OWNER_EMAIL: setting(z.string().regex(/^[^@\s]+@[^@\s]+$/, "must be an address such as ada@example.com"), {
    unit: "address",
    default: "local@localhost",
    reason: "of the first user",
  }),
  HEADWATER_OWNER_ID: setting(userId, {
    unit: "u_…",
    default: "u_localuser",
    reason: "public id of the first user, as the label headwater.dev/owner of a namespace says it",
  }),
  HEADWATER_ADMIN_TOKEN_FILE: optionalSetting(z.string(), {
    unit: "file",
    reason: "token of the admin API at /admin/v1, which makes users, organizations and keys; there is none when unset",
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalSetting(baseUrl, {
    unit: "URL",
    reason: "base of an OpenTelemetry collector that takes OTLP over HTTP, such as http://collector:4318; there are no traces when unset",
  }),
  OTEL_EXPORTER_OTLP_HEADERS: optionalSetting(z.string(), {
    unit: "name=value, by comma",
    reason: "what is told to the collector with each request, such as a key",
    secret: true,
  }),
  OTEL_TRACES_SAMPLER_ARG: setting(share, {
    unit: "0 to 1",
    default: "1",
    reason: "share of the traces begun here that are recorded; those of callers are as they decided",
  }),
  HEADWATER_LOG_LEVEL: setting(z.enum(["debug", "info", "warn", "error", "silent"]), {
    unit: "debug, info, warn, error or silent",
    default: "info",
    reason: "one line per unit of work at info",
  }),
});
