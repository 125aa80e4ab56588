import { BlockList, isIPv6 } from "node:net";
import { z } from "zod";
import type { ServerFiles } from "../../tls/changing-files.ts";
import type { ClientFiles } from "../../tls/client-files.ts";

/** In place of a file with authorities. */
export const publicAuthorities = "public";

/** Servers that a process in a cluster may reach without TLS. */
export const plaintextServers: z.ZodType<readonly string[], string> = z.string().transform((text, context) => {
  const servers = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  for (const server of servers)
    if (server !== "nats" && server !== "postgres") context.addIssue(`'${server}' is unknown: use nats, postgres, or both`);
  return servers;
});

type Given = Readonly<Record<string, string | undefined>>;

export interface Encryption {
  /** Undefined: plain HTTP. */
  readonly serverFiles: ServerFiles | undefined;
  /** Undefined: no TLS. */
  readonly natsTls: ClientFiles | undefined;
  /** Undefined: as `sslmode` in DATABASE_URL. */
  readonly databaseTls: ClientFiles | undefined;
  /** Servers on other machines that need no TLS. */
  readonly plaintext: readonly string[];
  /** Files of private authorities that are trusted besides the public ones, by the setting's name. */
  readonly privateCa: Readonly<Record<PrivateCaSetting, string | undefined>>;
}

/** Settings of private authorities that are trusted besides the public ones. */
export type PrivateCaSetting = "HEADWATER_WEBHOOK_CA" | "HEADWATER_SMTP_CA" | "HEADWATER_S3_CA" | "OTEL_EXPORTER_OTLP_CERTIFICATE";

type Name = "CERTIFICATE" | "KEY";
type Settings = Readonly<
  Partial<
    Record<
      "NATS_URL" | "HEADWATER_NATS_CA" | "HEADWATER_DATABASE_CA" | PrivateCaSetting | `HEADWATER_${"NATS" | "DATABASE" | "SERVER"}_${Name}`,
      string | undefined
    >
  >
>;

/** The settings of tls-settings.ts. */
export function encryptionOf(env: Settings & { readonly HEADWATER_PLAINTEXT: readonly string[] }): Encryption {
  const { HEADWATER_DATABASE_CA: ca, HEADWATER_DATABASE_CERTIFICATE: certificate, HEADWATER_DATABASE_KEY: key } = env;
  const { HEADWATER_SERVER_CERTIFICATE: served, HEADWATER_SERVER_KEY: servedKey } = env;
  return {
    serverFiles: served === undefined || servedKey === undefined ? undefined : { certificate: served, key: servedKey },
    natsTls: natsTlsOf(env),
    databaseTls: ca === undefined ? undefined : { ca: authoritiesOf(ca), certificate, key },
    plaintext: env.HEADWATER_PLAINTEXT,
    privateCa: {
      HEADWATER_WEBHOOK_CA: env.HEADWATER_WEBHOOK_CA,
      HEADWATER_SMTP_CA: env.HEADWATER_SMTP_CA,
      HEADWATER_S3_CA: env.HEADWATER_S3_CA,
      OTEL_EXPORTER_OTLP_CERTIFICATE: env.OTEL_EXPORTER_OTLP_CERTIFICATE,
    },
  };
}

function natsTlsOf(env: Settings): ClientFiles | undefined {
  const { NATS_URL: url = "", HEADWATER_NATS_CA: ca, HEADWATER_NATS_CERTIFICATE: certificate, HEADWATER_NATS_KEY: key } = env;
  if (ca === undefined && !/(^|,)\s*tls:/.test(url)) return undefined;
  return { ca: authoritiesOf(ca), certificate, key };
}

const authoritiesOf = (ca: string | undefined): string | undefined => (ca === publicAuthorities ? undefined : ca);

interface Policy extends Pick<Encryption, "plaintext"> {
  readonly resources: string;
}

/** Settings of TLS that contradict each other, and servers outside this machine that would be reached without TLS. A line for each. */
export function encryptionMistakes(policy: Policy, given: Given): readonly string[] {
  return [
    ...["DATABASE", "NATS", "SERVER", "EMAIL"].flatMap((of) => pairMistakes(given, `HEADWATER_${of}_CERTIFICATE`, `HEADWATER_${of}_KEY`)),
    ...requires(given, "HEADWATER_DATABASE_CERTIFICATE", "HEADWATER_DATABASE_CA"),
    ...requires(given, "HEADWATER_DATABASE_CA", "DATABASE_URL"),
    ...requires(given, "HEADWATER_NATS_CA", "NATS_URL"),
    ...natsCertificateMistakes(given),
    ...requires(given, "HEADWATER_SMTP_CA", "HEADWATER_SMTP_URL"),
    ...requires(given, "HEADWATER_S3_CA", "HEADWATER_S3_URL"),
    ...requires(given, "HEADWATER_EMAIL_CERTIFICATE", "HEADWATER_EMAIL_DOMAIN"),
    ...requires(given, "OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_ENDPOINT"),
    ...sslModeMistakes(given),
    ...plaintextMistakes(policy, given),
  ];
}

function pairMistakes(given: Given, certificate: string, key: string): readonly string[] {
  return [...requires(given, certificate, key), ...requires(given, key, certificate)];
}

function requires(given: Given, name: string, other: string): readonly string[] {
  return given[name] === undefined || given[other] !== undefined ? [] : [`${name} is set, but ${other} is not: set both or neither`];
}

function natsCertificateMistakes(given: Given): readonly string[] {
  if (given["HEADWATER_NATS_CERTIFICATE"] === undefined || natsTlsOf(given) !== undefined) return [];
  return ["HEADWATER_NATS_CERTIFICATE is set, but NATS is reached without TLS: set HEADWATER_NATS_CA, or start NATS_URL with tls://"];
}

/** With an authority Postgres is always verified. */
function sslModeMistakes(given: Given): readonly string[] {
  const mode = sslModeOf(given["DATABASE_URL"]);
  if (given["HEADWATER_DATABASE_CA"] === undefined || mode === undefined || mode === "verify-full") return [];
  return [`DATABASE_URL has sslmode=${mode}, but HEADWATER_DATABASE_CA requires verify-full: remove one of both`];
}

function plaintextMistakes({ resources, plaintext }: Policy, given: Given): readonly string[] {
  if (resources !== "kubernetes") return [];
  const { NATS_URL: nats = "", DATABASE_URL: database } = given;
  const isNatsOpen = nats !== "" && natsTlsOf(given) === undefined && !nats.split(",").every(isLocalNats);
  const isVerified = given["HEADWATER_DATABASE_CA"] !== undefined || sslModeOf(database) === "verify-full";
  const isDatabaseOpen = database !== undefined && !isVerified && !isLocalPostgres(database);
  return [
    ...(isNatsOpen && !plaintext.includes("nats")
      ? ["NATS_URL is on another machine, without TLS: set HEADWATER_NATS_CA, or HEADWATER_PLAINTEXT=nats to allow plaintext"]
      : []),
    ...(isDatabaseOpen && !plaintext.includes("postgres")
      ? [
          "DATABASE_URL is on another machine, without verified TLS: set HEADWATER_DATABASE_CA or sslmode=verify-full, or HEADWATER_PLAINTEXT=postgres to allow plaintext",
        ]
      : []),
  ];
}

const sslModeOf = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : (new URL(url).searchParams.get("sslmode") ?? undefined);

const isLocalNats = (address: string): boolean =>
  isLoopback(new URL(address.includes("://") ? address.trim() : `nats://${address.trim()}`).hostname);

function isLocalPostgres(url: string): boolean {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? hostname;
  return host.startsWith("/") || isLoopback(host);
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  return bare === "localhost" || loopback.check(bare, isIPv6(bare) ? "ipv6" : "ipv4");
}
