import { z } from "zod";
import { InvalidInput } from "../../../domain/errors.ts";
import { givenSettings, natsAddresses, optionalSetting, setting } from "./settings.ts";

/** A token of a subject, and a part of the name of a stream, which `_` ends. */
const natsPrefix = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/, "must be lower-case letters, digits and dashes, at most 32 of them");
const natsDomain = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be the name of a JetStream domain: letters, digits, - and _");

/** How processes reach NATS. */
export const natsSettings = {
  NATS_URL: optionalSetting(natsAddresses, {
    unit: "nats://[user:password@]host:port",
    reason: "your own nats-server 2.14 or later, with JetStream; default: one is started for you",
    secret: true,
  }),
  HEADWATER_NATS_CREDENTIALS: optionalSetting(z.string(), {
    unit: "file or directory",
    reason:
      "credentials for NATS_URL: a .creds file (JWT and seed), the seed of an nkey, or user:password; a directory has <role>.creds of each role. Read again for each connection; default: none",
  }),
  HEADWATER_NATS_ACCOUNT: setting(z.enum(["own", "shared", "perRole"]), {
    unit: "own, shared or perRole",
    default: "own",
    reason:
      "whose users the credentials are of. own: Headwater signs accounts and users. shared: an account of yours, one user for all roles. perRole: an account of yours, a user for each role, see --nats-rights",
  }),
  HEADWATER_NATS_DOMAIN: optionalSetting(natsDomain, {
    unit: "name",
    reason: "JetStream domain of an account of yours, if the server at NATS_URL is in another one; default: none",
  }),
  HEADWATER_NATS_PREFIX: optionalSetting(natsPrefix, {
    unit: "name",
    reason:
      "begins all subjects and streams, so that several installations share an account of yours; never change it, since the streams belong to it. Default: none",
  }),
};

const natsNames = z.object({
  domain: natsSettings.HEADWATER_NATS_DOMAIN,
  prefix: natsSettings.HEADWATER_NATS_PREFIX,
});

/** What `--nats-rights` depends on. @throws InvalidInput */
export function parseNatsNames(env: NodeJS.ProcessEnv): z.output<typeof natsNames> {
  const { HEADWATER_NATS_DOMAIN: domain, HEADWATER_NATS_PREFIX: prefix } = givenSettings(env);
  const parsed = natsNames.safeParse({ domain, prefix });
  if (parsed.success) return parsed.data;
  const mistakes = parsed.error.issues.map(({ path, message }) => `HEADWATER_NATS_${String(path[0]).toUpperCase()} is invalid: ${message}`);
  throw new InvalidInput(mistakes.join("\n"), { code: "invalid_configuration" });
}

type Given = Readonly<Record<string, string | undefined>>;

/** Settings of an account of yours that contradict others. A line for each. */
export function natsMistakes(given: Given): readonly string[] {
  const isOwn = (given["HEADWATER_NATS_ACCOUNT"] ?? "own") === "own";
  const needsAccount = ["HEADWATER_NATS_DOMAIN", "HEADWATER_NATS_PREFIX"].filter((name) => isOwn && given[name] !== undefined);
  return [
    ...needsAccount.map((name) => `${name} is set, but HEADWATER_NATS_ACCOUNT is not shared or perRole: it is for an account of yours`),
    ...(isOwn || given["NATS_URL"] !== undefined ? [] : ["HEADWATER_NATS_ACCOUNT is set, but NATS_URL is not: set both or neither"]),
    ...(given["HEADWATER_NATS_ACCOUNT"] === "perRole" && given["HEADWATER_NATS_CREDENTIALS"] === undefined
      ? ["HEADWATER_NATS_ACCOUNT is perRole, but HEADWATER_NATS_CREDENTIALS is not set: it names the directory with <role>.creds"]
      : []),
  ];
}
