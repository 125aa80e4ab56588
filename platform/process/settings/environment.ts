import { z } from "zod";
import { jailModes } from "../../../domain/jail-modes.ts";
import { mailSettings } from "./mail-settings.ts";
import { natsSettings } from "./nats-settings.ts";
import {
  baseUrl,
  byteSize,
  cidrList,
  kubernetesName,
  listenAddress,
  optionalSetting,
  postgresAddress,
  s3Url,
  serverAddress,
  setting,
  share,
  trustedProxies,
  userId,
  waitOrNever,
  waits,
  wholeNumber,
} from "./settings.ts";
import { tlsSettings } from "./tls-settings.ts";
import { historySettings } from "./history-settings.ts";
import { userSettings } from "./user-settings.ts";

export const roleNames = ["ingress", "api", "operator", "delivery", "runner", "builder"] as const;
export type RoleName = (typeof roleNames)[number];

/**
 * Not roles. The installation steps before roles start in a cluster, and `--backup` or `--restore`, end; the process host has no
 * connection to NATS and no keys.
 */
export const [setUp, backUp, sandboxHost] = ["setup", "backup", "sandbox"] as const;
const tasks = [setUp, backUp, sandboxHost] as const;
type Task = (typeof tasks)[number];

const roles = z.string().transform((text, context): readonly RoleName[] | Task => {
  const names = text.split(",").map((name) => name.trim());
  const task = names.length === 1 ? tasks.find((each) => each === names[0]) : undefined;
  if (task !== undefined) return task;
  const unknown = names.filter((name) => name !== "all" && !roleNames.some((role) => role === name));
  for (const name of unknown) context.addIssue(`'${name}' is not a role: use ${roleNames.join(", ")}, or all`);
  return names.includes("all") ? roleNames : roleNames.filter((role) => names.includes(role));
});

const number = { unit: "number" } as const;

/** All settings from the environment, in the order of `--help`. */
export const environment = z.object({
  HEADWATER_ROLES: setting(roles, {
    unit: "roles, by comma",
    default: "all",
    reason: `roles of this process: ${roleNames.join(", ")}; in a cluster each process has one. ${setUp}: install tables, streams and the first user, then exit. ${backUp}: set by --backup and --restore. ${sandboxHost}: start sandbox processes for the runner at HEADWATER_SANDBOX_SOCKET`,
  }),
  HEADWATER_RESOURCES: setting(z.enum(["postgres", "kubernetes"]), {
    unit: "postgres or kubernetes",
    default: "postgres",
    reason: "store of sources and all other resources; kubernetes is the cluster of the pod, otherwise the one in KUBECONFIG",
  }),
  HEADWATER_NAMESPACE: optionalSetting(kubernetesName, {
    unit: "name",
    reason: "namespace of the installation in the cluster; default: the namespace of the pod, or of the kubeconfig's context",
  }),
  HEADWATER_POD_NAME: optionalSetting(z.string(), {
    unit: "name",
    reason: "identity of this process in leader election; default: derived from the host name",
  }),
  HEADWATER_BACKUPS: setting(z.enum(["true", "false"]), {
    unit: "true or false",
    default: "false",
    reason: "whether the operator lets the account headwater-backup list the Secrets and ConfigMaps of owners",
  }),
  HEADWATER_RUNNER_PODS: optionalSetting(z.string(), {
    unit: "file",
    reason: "JSON with the settings that all runner pods share; without it the operator creates no runner pods",
  }),
  HEADWATER_POOL: setting(kubernetesName, {
    unit: "name",
    default: "default",
    reason: "pool whose sources this runner runs",
  }),
  HEADWATER_LISTEN: setting(listenAddress, {
    unit: "host:port",
    default: "127.0.0.1:3000",
    reason: "address of the API, /healthz, /readyz and /metrics; loopback by default, so that nothing is public by mistake",
  }),
  HEADWATER_INGRESS_LISTEN: setting(listenAddress, {
    unit: "host:port",
    default: "127.0.0.1:3001",
    reason: "address of the HTTP endpoints of sources; separate from the API, so that only the endpoints can be public",
  }),
  HEADWATER_HEALTH_LISTEN: optionalSetting(listenAddress, {
    unit: "host:port",
    reason: "address of /healthz, /readyz and /metrics of this process, whatever its roles; default: none",
  }),
  HEADWATER_PUBLIC_URL: optionalSetting(baseUrl, {
    unit: "URL",
    reason: "base of the API's addresses in responses; default: derived from HEADWATER_LISTEN",
  }),
  HEADWATER_INGRESS_URL: optionalSetting(baseUrl, {
    unit: "URL",
    reason: "base of the addresses of endpoints; default: derived from HEADWATER_INGRESS_LISTEN",
  }),
  HEADWATER_TRUSTED_PROXIES: setting(trustedProxies, {
    unit: "CIDRs, by comma, or a number",
    default: "",
    reason:
      "proxies in front of the API and the endpoints whose X-Forwarded-For, -Proto and -Port are trusted; a number trusts that many hops",
  }),
  HEADWATER_MAX_CONNECTIONS: setting(wholeNumber(16, 1_000_000), {
    ...number,
    default: "4096",
    reason: "max open connections of the API and of the ingress, each; one client network may have half of them",
  }),
  HEADWATER_DATA: setting(z.string(), {
    unit: "directory",
    default: ".headwater",
    reason: "directory for all data of an embedded start",
  }),
  HEADWATER_KEYS: optionalSetting(z.string(), {
    unit: "directory",
    reason: "keys that seal secrets, and keys of NATS; default: keys/ in the data directory",
  }),
  HEADWATER_EGRESS_ALLOW: setting(cidrList, {
    unit: "CIDRs, by comma",
    default: "",
    reason: "private networks that user code and webhook deliveries may reach; default: none, because user code is not trusted",
  }),
  HEADWATER_EGRESS_SERVER: optionalSetting(serverAddress, {
    unit: "address:port",
    reason:
      "one server with a private address that user code may reach at this port; default: the endpoints, if the same process starts them and HEADWATER_INGRESS_URL has the address and port of HEADWATER_INGRESS_LISTEN",
  }),
  ...natsSettings,
  HEADWATER_STREAM_REPLICAS: setting(wholeNumber(1, 5), {
    ...number,
    default: "1",
    reason: "NATS servers that store each stream; with 3, one may fail",
  }),
  HEADWATER_STORE_SIZE: optionalSetting(byteSize, {
    unit: "size, such as 8Gi",
    reason:
      "max disk space of all streams on each NATS server; a stream at its share refuses new messages. Default: derived from the disk of the server we start, 8Gi for others",
  }),
  DATABASE_URL: optionalSetting(postgresAddress, {
    unit: "postgres://user:password@host:port/name",
    reason: "your own Postgres; default: one is started for you",
    secret: true,
  }),
  HEADWATER_DATABASE_POOLER: setting(z.enum(["none", "transaction"]), {
    unit: "none or transaction",
    default: "none",
    reason: "transaction: DATABASE_URL is a pooler in transaction mode, such as PgBouncer; statements are then planned each time",
  }),
  HEADWATER_NATS_SERVER: optionalSetting(z.string(), {
    unit: "file",
    reason: "the nats-server to start; default: the one on PATH",
  }),
  HEADWATER_SYNC_INTERVAL: setting(z.enum(["always", "100ms"]), {
    unit: "always or 100ms",
    default: "always",
    reason: "when the nats-server we start syncs to disk; 100ms is faster and loses that much on a power failure",
  }),
  ...tlsSettings,
  HEADWATER_RUN_TIMEOUT: setting(wholeNumber(1, 3_600), {
    unit: "seconds",
    default: "300",
    reason: "max duration of a run",
  }),
  HEADWATER_RUN_MEMORY: setting(wholeNumber(16, 4_096), {
    unit: "MB",
    default: "256",
    reason: "max heap of a source",
  }),
  HEADWATER_HTTP_BODY_LIMIT: setting(wholeNumber(1_024, 4 * 1_048_576), {
    unit: "bytes",
    default: "524288",
    reason: "max body of a request to an endpoint; larger ones are refused with 413. NATS messages have at most 8 MB",
  }),
  HEADWATER_HTTP_UPLOAD_LIMIT: setting(wholeNumber(1_024, 512 * 1_048_576), {
    unit: "bytes",
    default: "104857600",
    reason: "max body of a request to an endpoint that asks to have it stored as a file; larger ones are refused with 413",
  }),
  ...historySettings,
  HEADWATER_BACKLOG_PER_SOURCE: setting(wholeNumber(1, 10_000_000), {
    ...number,
    default: "2048",
    reason: "max queued invocations of one source, or 32 MiB of them; then its endpoint responds with 429",
  }),
  HEADWATER_BACKLOG_PER_OWNER: setting(wholeNumber(1, 10_000_000), {
    ...number,
    default: "8192",
    reason: "max queued invocations of one user or organization, or 128 MiB of them; then their endpoints respond with 429",
  }),
  HEADWATER_SANDBOX_CHILDREN: setting(wholeNumber(0, 64), {
    ...number,
    default: "0",
    reason: "sandbox processes per runner; 0: one per core",
  }),
  HEADWATER_SANDBOX_OWNERS: setting(wholeNumber(0, 256), {
    ...number,
    default: "0",
    reason: "above 0: each owner's runs have their own sandbox process, at most this many per runner; 0: owners share processes",
  }),
  HEADWATER_SANDBOX_JAIL: setting(z.enum(jailModes), {
    unit: "auto, required or off",
    default: "auto",
    reason:
      "whether the kernel (Landlock, seccomp) confines sandbox processes, installs and esbuild; auto: where it can, with a warning where it cannot; required: start none otherwise",
  }),
  HEADWATER_SANDBOX_SOCKET: optionalSetting(z.string(), {
    unit: "path or @name",
    reason:
      "Unix socket between a runner and the process host (HEADWATER_ROLES=sandbox), which then starts its sandbox processes in another container; @name: a name in the network namespace that both share; default: the runner starts them",
  }),
  HEADWATER_SANDBOX_USER: setting(wholeNumber(0, 2 ** 32 - 2), {
    ...number,
    default: "65533",
    reason: "user of the process host; the runner refuses connections of other users",
  }),
  HEADWATER_RUNS_PER_OWNER: setting(wholeNumber(1, 10_000), {
    ...number,
    default: "100",
    reason: "max concurrent runs of one user or organization, per runner; further runs wait and do not delay other owners",
  }),
  HEADWATER_DELIVERY_RETRY: optionalSetting(waits, {
    unit: "waits, by comma",
    reason: "delays before the second and each further attempt, such as 5s,1m,1h; default: ten attempts in about a day",
  }),
  HEADWATER_WEBHOOK_DISABLE_AFTER: setting(waitOrNever, {
    unit: "wait, or never",
    default: "5d",
    reason: "time without a successful delivery after which a webhook is disabled; a response of 410 Gone disables it at once",
  }),
  HEADWATER_DELIVERY_PROXY: optionalSetting(baseUrl, {
    unit: "http://[user:password@]host:port",
    reason: "HTTP proxy of all webhook deliveries; it then decides which addresses a name may resolve to. Default: none",
    secret: true,
  }),
  HEADWATER_S3_URL: optionalSetting(s3Url, {
    unit: "https://<access key>:<secret key>@host[:port][/<bucket>][?region=<region>][&owner_prefix=false]",
    reason:
      "S3-compatible store of $.send.s3; with a bucket, only that one can be written. Keys begin with the id of the owner, unless owner_prefix=false. Default: $.send.s3 fails",
    secret: true,
  }),
  ...mailSettings,
  ...userSettings,
  HEADWATER_STOP_TIMEOUT: setting(wholeNumber(1, 3_600), {
    unit: "seconds",
    default: "6",
    reason: "max time for a graceful stop of this process",
  }),
  HEADWATER_OWNER_USERNAME: setting(z.string().min(1), {
    unit: "text",
    default: "local",
    reason: "name of the first user, which setup creates",
  }),
  HEADWATER_OWNER_EMAIL: setting(z.string().regex(/^[^@\s]+@[^@\s]+$/, "must be an address such as ada@example.com"), {
    unit: "address",
    default: "local@localhost",
    reason: "email address of the first user",
  }),
  HEADWATER_OWNER_ID: setting(userId, {
    unit: "u_…",
    default: "u_localuser",
    reason: "public id of the first user, which labels their namespace as headwater.dev/owner",
  }),
  HEADWATER_ADMIN_LISTEN: optionalSetting(listenAddress, {
    unit: "host:port",
    reason: "address of the API with the admin API, which HEADWATER_LISTEN then does not have; default: HEADWATER_LISTEN has it",
  }),
  HEADWATER_ADMIN_TOKEN_FILE: optionalSetting(z.string(), {
    unit: "file",
    reason: "token of the admin API at /admin/v1, which creates users, organizations and keys; default: no admin API",
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalSetting(baseUrl, {
    unit: "URL",
    reason: "base URL of an OpenTelemetry collector with OTLP over HTTP, such as http://collector:4318; default: no traces",
  }),
  OTEL_EXPORTER_OTLP_HEADERS: optionalSetting(z.string(), {
    unit: "name=value, by comma",
    reason: "HTTP headers of each request to the collector, such as an API key",
    secret: true,
  }),
  OTEL_TRACES_SAMPLER_ARG: setting(share, {
    unit: "0 to 1",
    default: "1",
    reason: "share of the traces started here that are recorded; for other traces their caller has decided",
  }),
  HEADWATER_LOG_LEVEL: setting(z.enum(["debug", "info", "warn", "error", "silent"]), {
    unit: "debug, info, warn, error or silent",
    default: "info",
    reason: "lowest level that is logged; info logs one line per unit of work",
  }),
});
