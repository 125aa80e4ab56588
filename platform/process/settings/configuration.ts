import { join, resolve } from "node:path";
import { z } from "zod";
import { defaultBacklogLimits } from "../../../domain/limits/admission.ts";
import { InvalidInput } from "../../../domain/errors.ts";
import { suggestion } from "../../../domain/nearest-name.ts";
import { encryptionMistakes, encryptionOf } from "./encryption.ts";
import { backUp, environment, sandboxHost, setUp } from "./environment.ts";
import { mailsOf } from "./mail-settings.ts";
import { keptHistory } from "./history-settings.ts";
import { limitsOfUsers } from "./user-settings.ts";
import { formerNatsSettings, natsMistakes } from "./nats-settings.ts";
import { givenSettings, settingNotes, type ListenAddress } from "./settings.ts";

export { roleNames, type RoleName } from "./environment.ts";

const configurationSchema = environment.transform((env) => ({
  /** Empty if `setsUp`, `backsUp` or `hostsSandbox`. */
  roles: typeof env.HEADWATER_ROLES === "string" ? [] : env.HEADWATER_ROLES,
  setsUp: env.HEADWATER_ROLES === setUp,
  backsUp: env.HEADWATER_ROLES === backUp,
  hostsSandbox: env.HEADWATER_ROLES === sandboxHost,
  resources: env.HEADWATER_RESOURCES,
  namespace: env.HEADWATER_NAMESPACE,
  podName: env.HEADWATER_POD_NAME,
  hasBackups: env.HEADWATER_BACKUPS === "true",
  runnerPodsFile: env.HEADWATER_RUNNER_PODS,
  pool: env.HEADWATER_POOL,
  listen: env.HEADWATER_LISTEN,
  ingressListen: env.HEADWATER_INGRESS_LISTEN,
  /** Base URLs of the API and of endpoints, without trailing slash. */
  publicUrl: env.HEADWATER_PUBLIC_URL ?? baseOf(env, env.HEADWATER_LISTEN),
  ingressUrl: env.HEADWATER_INGRESS_URL ?? baseOf(env, env.HEADWATER_INGRESS_LISTEN),
  healthListen: env.HEADWATER_HEALTH_LISTEN,
  trustedProxies: env.HEADWATER_TRUSTED_PROXIES,
  maxConnections: env.HEADWATER_MAX_CONNECTIONS,
  dataDirectory: env.HEADWATER_DATA,
  /** Absolute directory of the master key, the pools' keys and the root of the NATS keys. */
  keysDirectory: resolve(env.HEADWATER_KEYS ?? join(env.HEADWATER_DATA, "keys")),
  ...egressOf(env),
  ...natsOf(env),
  natsReplicas: env.HEADWATER_STREAM_REPLICAS,
  /** Undefined: by the disk, or 8 GiB for an external server. */
  storeBytes: env.HEADWATER_STORE_SIZE,
  databaseUrl: env.DATABASE_URL,
  databasePooler: env.HEADWATER_DATABASE_POOLER,
  ...encryptionOf(env),
  syncInterval: env.HEADWATER_SYNC_INTERVAL,
  runTimeoutMs: env.HEADWATER_RUN_TIMEOUT * 1_000,
  runMemoryMb: env.HEADWATER_RUN_MEMORY,
  ...bodiesOf(env),
  ...keptHistory(env),
  backlog: {
    ...defaultBacklogLimits,
    sourceInvocations: env.HEADWATER_BACKLOG_PER_SOURCE,
    ownerInvocations: env.HEADWATER_BACKLOG_PER_OWNER,
  },
  sandboxChildren: env.HEADWATER_SANDBOX_CHILDREN,
  sandboxOwners: env.HEADWATER_SANDBOX_OWNERS,
  sandboxJail: env.HEADWATER_SANDBOX_JAIL,
  /** Undefined: sandbox processes are children of the runner. */
  sandboxSocket: env.HEADWATER_SANDBOX_SOCKET,
  sandboxUser: env.HEADWATER_SANDBOX_USER,
  ownerRuns: env.HEADWATER_RUNS_PER_OWNER,
  /** Delays in ms; undefined: the default schedule. */
  deliveryRetryMs: env.HEADWATER_DELIVERY_RETRY,
  deliveryProxy: env.HEADWATER_DELIVERY_PROXY,
  /** Undefined: none. */
  s3: env.HEADWATER_S3_URL,
  /** Undefined: never. */
  webhookDisableAfterMs: env.HEADWATER_WEBHOOK_DISABLE_AFTER,
  ...mailsOf(env),
  ...limitsOfUsers(env),
  stopTimeoutMs: env.HEADWATER_STOP_TIMEOUT * 1_000,
  owner: {
    id: env.HEADWATER_OWNER_ID,
    username: env.HEADWATER_OWNER_USERNAME,
    email: env.HEADWATER_OWNER_EMAIL,
  },
  ...adminOf(env),
  /** Undefined: no traces. */
  tracesEndpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
  tracesShare: env.OTEL_TRACES_SAMPLER_ARG,
  logLevel: env.HEADWATER_LOG_LEVEL,
}));

const adminOf = (env: z.output<typeof environment>) => ({
  adminTokenFile: env.HEADWATER_ADMIN_TOKEN_FILE,
  /** Undefined: `listen` has the admin API. */
  adminListen: env.HEADWATER_ADMIN_LISTEN,
});

const egressOf = (env: z.output<typeof environment>) => ({
  egressAllow: env.HEADWATER_EGRESS_ALLOW,
  /** Undefined: none. */
  egressServer: env.HEADWATER_EGRESS_SERVER,
});

const bodiesOf = (env: z.output<typeof environment>) => ({
  httpBodyLimitBytes: env.HEADWATER_HTTP_BODY_LIMIT,
  httpUploadLimitBytes: env.HEADWATER_HTTP_UPLOAD_LIMIT,
});

const natsOf = (env: z.output<typeof environment>) => ({
  natsUrl: env.NATS_URL,
  natsCredentialsFile: env.HEADWATER_NATS_CREDENTIALS,
  natsAccount: env.HEADWATER_NATS_ACCOUNT,
  natsDomain: env.HEADWATER_NATS_DOMAIN,
});

function baseOf(env: Pick<z.output<typeof environment>, "HEADWATER_SERVER_CERTIFICATE">, { host, port }: ListenAddress): string {
  const scheme = env.HEADWATER_SERVER_CERTIFICATE === undefined ? "http" : "https";
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export type Configuration = Readonly<z.output<typeof configurationSchema>>;

/** Parses the settings. An empty variable counts as unset. @throws InvalidInput with a line for each mistake */
export function parseConfiguration(env: NodeJS.ProcessEnv): Configuration {
  const given = givenSettings(env);
  const mistakes = Object.keys(given).filter(isUnknown).map(unknownSetting);
  if (given["HEADWATER_SMTP_URL"] !== undefined && given["HEADWATER_MAIL_FROM"] === undefined)
    mistakes.push("HEADWATER_MAIL_FROM is missing: HEADWATER_SMTP_URL is set, and mails need a sender such as headwater@example.com");
  const parsed = configurationSchema.safeParse(given);
  if (given["HEADWATER_ROLES"] === sandboxHost && given["HEADWATER_SANDBOX_SOCKET"] === undefined)
    mistakes.push("HEADWATER_SANDBOX_SOCKET is missing: the process host needs the socket of its runner, such as @headwater-sandbox");
  mistakes.push(...natsMistakes(given));
  if (!parsed.success) mistakes.push(...parsed.error.issues.map((issue) => invalidSetting(issue, given)));
  if (parsed.success) mistakes.push(...encryptionMistakes(parsed.data, given));
  if (!parsed.success || mistakes.length > 0) throw new InvalidInput(mistakes.join("\n"), { code: "invalid_configuration" });
  return parsed.data;
}

const names = Object.keys(environment.shape);

/** Kubernetes sets variables such as HEADWATER_API_SERVICE_HOST and HEADWATER_API_PORT_3000_TCP for every Service in each pod. */
const ofKubernetes = /_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP|SCTP)(_|$)|$)/;

function isUnknown(name: string): boolean {
  return name.startsWith("HEADWATER_") && !name.startsWith("HEADWATER_TEST_") && !names.includes(name) && !ofKubernetes.test(name);
}

function unknownSetting(name: string): string {
  const instead = formerNatsSettings[name];
  if (instead !== undefined) return `${name} is no longer a setting: ${instead}`;
  return `${name} is not a setting${suggestion(name, names, ": --help lists all settings")}`;
}

function invalidSetting(issue: z.core.$ZodIssue, given: Readonly<Record<string, string | undefined>>): string {
  const name = String(issue.path[0]);
  const schema = Object.entries(environment.shape).find(([known]) => known === name)?.[1];
  const shown = schema !== undefined && settingNotes.get(schema)?.secret === true ? "" : ` '${given[name]}'`;
  return `${name}${shown} is invalid: ${issue.message}`;
}

/** The text of `--help`. */
export function describeConfiguration(): string {
  const rows = Object.entries(environment.shape).map(([name, schema]) => {
    const notes = settingNotes.get(schema);
    const initial = notes?.default === undefined || notes.default === "" ? "unset" : notes.default;
    return `  ${name}\n      ${notes?.reason ?? ""}\n      ${notes?.unit ?? ""} · default: ${initial}`;
  });
  return rows.join("\n");
}
