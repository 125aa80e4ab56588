import { z } from "zod";
import { natsAddresses, optionalSetting, setting } from "./settings.ts";

const natsDomain = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be the name of a JetStream domain: letters, digits, - and _");

const natsAccountError = 'must be own or shared: in an account of yours all roles have one user, see docs/kubernetes.md, "Your own NATS"';

/** How processes reach NATS. */
export const natsSettings = {
  NATS_URL: optionalSetting(natsAddresses, {
    unit: "nats://[user:password@]host:port",
    reason: "your own nats-server 2.14 or later, with JetStream; default: one is started for you",
    secret: true,
  }),
  HEADWATER_NATS_CREDENTIALS: optionalSetting(z.string(), {
    unit: "file",
    reason:
      "credentials for NATS_URL: a .creds file (JWT and seed), the seed of an nkey, or user:password. Read again for each connection; default: none",
  }),
  HEADWATER_NATS_ACCOUNT: setting(z.enum(["own", "shared"], natsAccountError), {
    unit: "own or shared",
    default: "own",
    reason:
      "whose users the credentials are of. own: Headwater signs accounts and users. shared: an account of yours for Headwater alone, with one user for all roles",
  }),
  HEADWATER_NATS_DOMAIN: optionalSetting(natsDomain, {
    unit: "name",
    reason: "JetStream domain of an account of yours, if the server at NATS_URL is in another one; default: none",
  }),
};

/** What to do about a setting of earlier versions. */
export const formerNatsSettings: Readonly<Record<string, string>> = {
  HEADWATER_NATS_PREFIX: 'give Headwater an account of NATS of its own; docs/kubernetes.md, "From a shared account", says how',
};

type Given = Readonly<Record<string, string | undefined>>;

/** Settings of an account of yours that contradict others. A line for each. */
export function natsMistakes(given: Given): readonly string[] {
  const isOwn = (given["HEADWATER_NATS_ACCOUNT"] ?? "own") === "own";
  return [
    ...(isOwn && given["HEADWATER_NATS_DOMAIN"] !== undefined
      ? ["HEADWATER_NATS_DOMAIN is set, but HEADWATER_NATS_ACCOUNT is not shared: it is for an account of yours"]
      : []),
    ...(isOwn || given["NATS_URL"] !== undefined ? [] : ["HEADWATER_NATS_ACCOUNT is set, but NATS_URL is not: set both or neither"]),
  ];
}
