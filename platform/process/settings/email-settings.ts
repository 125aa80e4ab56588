import { z } from "zod";
import { dnsServers, listenAddress, optionalSetting, setting, wholeNumber } from "./settings.ts";

/** A host name, in lower case. */
const domain = z
  .string()
  .max(190, "it must have at most 190 characters")
  .toLowerCase()
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/, "it must be a domain such as in.example.com");

/** Emails that start runs of workflows. */
export const emailSettings = {
  HEADWATER_EMAIL_DOMAIN: optionalSetting(domain, {
    unit: "domain",
    reason:
      "domain of the addresses of email triggers; its MX record must lead to HEADWATER_EMAIL_LISTEN. Default: there are no email triggers",
  }),
  HEADWATER_EMAIL_LISTEN: setting(listenAddress, {
    unit: "host:port",
    default: "127.0.0.1:2525",
    reason: "address at which the role ingress receives emails by SMTP, if HEADWATER_EMAIL_DOMAIN is set; other servers send to port 25",
  }),
  HEADWATER_EMAIL_CERTIFICATE: optionalSetting(z.string(), {
    unit: "file",
    reason: "certificate (PEM) for STARTTLS of received emails; default: they arrive without TLS",
  }),
  HEADWATER_EMAIL_KEY: optionalSetting(z.string(), {
    unit: "file",
    reason: "private key (PEM) of HEADWATER_EMAIL_CERTIFICATE",
  }),
  HEADWATER_EMAIL_DNS: setting(dnsServers, {
    unit: "addresses",
    default: "system",
    reason:
      "DNS servers that SPF, DKIM and DMARC of received emails are checked with, such as 10.0.0.53,[fd00::53]:5353; system: those of the host; off: senders are not checked",
  }),
  HEADWATER_EMAIL_MESSAGE_LIMIT: setting(wholeNumber(1_024, 25 * 1_048_576), {
    unit: "bytes",
    default: "4194304",
    reason: "max received email; the event of its run, with the attachments in base64, is bounded by HEADWATER_HTTP_BODY_LIMIT",
  }),
};

type EmailEnvironment = z.output<z.ZodObject<typeof emailSettings>>;

export const emailOf = (env: EmailEnvironment) => ({
  /** Undefined: there are no email triggers. */
  email:
    env.HEADWATER_EMAIL_DOMAIN === undefined
      ? undefined
      : {
          domain: env.HEADWATER_EMAIL_DOMAIN,
          listen: env.HEADWATER_EMAIL_LISTEN,
          dns: env.HEADWATER_EMAIL_DNS,
          messageLimitBytes: env.HEADWATER_EMAIL_MESSAGE_LIMIT,
          files:
            env.HEADWATER_EMAIL_CERTIFICATE === undefined || env.HEADWATER_EMAIL_KEY === undefined
              ? undefined
              : { certificate: env.HEADWATER_EMAIL_CERTIFICATE, key: env.HEADWATER_EMAIL_KEY },
        },
});
