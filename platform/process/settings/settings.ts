import { BlockList, isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { z } from "zod";
import type { TrustedProxies } from "../../../domain/client-address.ts";
import { isId } from "../../../domain/ids.ts";
import { parseS3Url, type S3Address } from "../../http/s3-address.ts";
import { parseSender, parseSmtpUrl, type Sender, type SmtpAddress } from "../../mail/smtp-address.ts";

/** Help text of a setting. `secret` keeps its value out of error messages. */
export interface SettingNotes {
  readonly unit: string;
  readonly default?: string;
  readonly reason: string;
  readonly secret?: true;
}

export const settingNotes = z.registry<SettingNotes>();

/** The variables that are set. An empty one counts as unset. */
export function givenSettings(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ""));
}

/** A setting with a default. */
export function setting<T extends z.ZodType<unknown, string>>(schema: T, notes: SettingNotes & { default: string }): z.ZodPrefault<T> {
  // `prefault` expects the input of T, which is text by the constraint above.
  const withDefault = schema.prefault(notes.default as z.input<T>);
  settingNotes.add(withDefault, notes);
  return withDefault;
}

/** An optional setting. */
export function optionalSetting<T extends z.ZodType<unknown, string>>(schema: T, notes: SettingNotes): z.ZodOptional<T> {
  const optional = schema.optional();
  settingNotes.add(optional, notes);
  return optional;
}

const commaList = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);

export function wholeNumber(min: number, max: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be ${min} to ${max}`);
}

export const share: z.ZodType<number, string> = z
  .string()
  .regex(/^(0(\.\d+)?|1(\.0+)?)$/, "must be a number from 0 to 1")
  .transform(Number);

export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** `host:port`, `[::1]:port` or `:port` for all interfaces. */
export const listenAddress: z.ZodType<ListenAddress, string> = z.string().transform((text, context) => {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || port === undefined || Number(port) > 65_535) {
    context.addIssue("must be host:port with a port of 0 to 65535, such as 127.0.0.1:3000");
    return z.NEVER;
  }
  return { host: host === "" ? "0.0.0.0" : host, port: Number(port) };
});

/** The address and port of one server, without a name: `10.1.0.7:443` or `[fd00::7]:443`. */
export const serverAddress: z.ZodType<ListenAddress, string> = z.string().transform((text, context) => {
  const { data } = listenAddress.safeParse(text);
  if (data !== undefined && data.port > 0 && isIP(data.host) !== 0 && ipaddr.process(data.host).range() !== "unspecified") return data;
  context.addIssue("must be an IP address of one server and a port of 1 to 65535, such as 10.1.0.7:443 or [fd00::7]:443");
  return z.NEVER;
});

/** http or https, without trailing slash. */
export const baseUrl: z.ZodType<string, string> = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), "must be an http or https address")
  .transform((text) => text.replace(/\/+$/, ""));

/** One NATS URL or several, separated by commas; the default scheme is nats://. */
export const natsAddresses: z.ZodType<string, string> = z
  .string()
  .refine(
    (text) => text.split(",").every(isNatsAddress),
    "must be nats://[user:password@]host:port or tls://…, several separated by commas",
  );

export const s3Url: z.ZodType<S3Address, string> = z.string().transform((text, context) => {
  const address = parseS3Url(text);
  if (address !== undefined) return address;
  // The text has a secret.
  context.addIssue(
    "must be https://<access key>:<secret key>@host[:port][/<bucket>][?region=<region>][&owner_prefix=false], with percent-encoded keys",
  );
  return z.NEVER;
});

export const postgresAddress: z.ZodType<string, string> = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol),
    "must be postgres://user:password@host:port/name; characters such as @ and / in a password are written %40 and %2F",
  );

export const smtpAddress: z.ZodType<SmtpAddress, string> = parsedBy(
  parseSmtpUrl,
  "must be smtp://user:password@host:port or smtps://…, with both or neither of user and password; characters such as @ and / in a password are written %40 and %2F",
);

export const mailSender: z.ZodType<Sender, string> = parsedBy(
  parseSender,
  "must be an address such as headwater@example.com, or Headwater <headwater@example.com>",
);

function parsedBy<T>(parse: (text: string) => T | undefined, message: string): z.ZodType<T, string> {
  return z.string().transform((text, context) => {
    const parsed = parse(text);
    if (parsed !== undefined) return parsed;
    context.addIssue(message);
    return z.NEVER;
  });
}

function isNatsAddress(text: string): boolean {
  const address = text.includes("://") ? text.trim() : `nats://${text.trim()}`;
  return URL.canParse(address) && /^(nats|tls):$/.test(new URL(address).protocol);
}

export const cidrList: z.ZodType<readonly string[], string> = commaList.refine(
  (list) => list.every(isCidr),
  "must be networks such as 10.0.0.0/8,fd00::/8",
);

/** Networks of proxies, or their number. */
export const trustedProxies: z.ZodType<TrustedProxies, string> = commaList
  .refine(
    (list) => list.every(isCidr) || (list.length === 1 && /^\d$/.test(list[0] ?? "")),
    "must be networks such as 10.0.0.0/8,fd00::/8, or a number of proxies from 0 to 9",
  )
  .transform((list) => (list[0]?.length === 1 ? { hops: Number(list[0]) } : { networks: list }));

/** IP addresses of DNS servers, with or without a port. Empty: those of the system; undefined: none. */
export const dnsServers: z.ZodType<readonly string[] | undefined, string> = commaList
  .refine(
    (list) => list.length > 0 && (list.every(isServer) || (list.length === 1 && /^(system|off)$/.test(list[0] ?? ""))),
    "must be addresses such as 10.0.0.53,[fd00::53]:5353, or system, or off",
  )
  .transform((list) => (list[0] === "off" ? undefined : list[0] === "system" ? [] : list));

/** RFC 1123 label. */
export const kubernetesName: z.ZodType<string, string> = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "must be lower-case letters, digits and dashes, at most 63 of them");

export const userId: z.ZodType<string, string> = z
  .string()
  .refine((text) => isId("user", text), "must be u_ and lower-case letters and digits, such as u_localuser");

const sizeUnits: Readonly<Record<string, number>> = { Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

/** `512Mi`, `8Gi` or `1Ti` as bytes. */
export const byteSize: z.ZodType<number, string> = z
  .string()
  .regex(/^\d+(Mi|Gi|Ti)$/, "must be a size such as 512Mi, 8Gi or 1Ti")
  .transform((text) => Number.parseInt(text, 10) * (sizeUnits[text.slice(-2)] ?? 1))
  .refine((bytes) => bytes >= 64 * 2 ** 20, "must be at least 64Mi");

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `5s,30s,2m` as milliseconds. */
export const waits: z.ZodType<readonly number[], string> = commaList
  .refine((list) => list.length > 0 && list.every((wait) => /^\d+(ms|s|m|h)$/.test(wait)), "must be waits such as 5s,30s,2m,1h")
  .transform((list) => list.map(msOf));

/** `5d` as milliseconds; undefined: never. */
export const waitOrNever: z.ZodType<number | undefined, string> = z
  .string()
  .regex(/^(\d+(ms|s|m|h|d)|never)$/, "must be a wait such as 12h or 5d, or never")
  .transform((text) => (text === "never" ? undefined : msOf(text)));

function msOf(wait: string): number {
  return Number.parseInt(wait, 10) * (units[wait.replace(/^\d+/, "")] ?? 1);
}

function isServer(text: string): boolean {
  const [, bracketed, plain, port = "53"] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  return isIP(text) !== 0 || (isIP(bracketed ?? plain ?? "") !== 0 && Number(port) > 0 && Number(port) <= 65_535);
}

function isCidr(text: string): boolean {
  const [address = "", bits = ""] = text.split("/");
  const family = isIP(address);
  if (family === 0 || !/^\d{1,3}$/.test(bits)) return false;
  try {
    new BlockList().addSubnet(address, Number(bits), family === 6 ? "ipv6" : "ipv4");
    return true;
  } catch {
    return false;
  }
}
