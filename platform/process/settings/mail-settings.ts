import type { z } from "zod";
import { emailOf, emailSettings } from "./email-settings.ts";
import { mailSender, optionalSetting, setting, smtpAddress, wholeNumber } from "./settings.ts";

/** The mail server of the installation, the limits of what goes through it, and emails that are received. */
export const mailSettings = {
  HEADWATER_SMTP_URL: optionalSetting(smtpAddress, {
    unit: "smtp[s]://[user:password@]host[:port]",
    reason: "SMTP server for mails about errors and of $.send.email; smtp uses STARTTLS if the server offers it. Default: no mails",
    secret: true,
  }),
  HEADWATER_MAIL_FROM: optionalSetting(mailSender, {
    unit: "address, or name <address>",
    reason: "sender of all mails; required with HEADWATER_SMTP_URL",
  }),
  HEADWATER_MAILS_PER_OWNER: setting(wholeNumber(1, 1_000_000), {
    unit: "number",
    default: "200",
    reason: "max mails to one user or organization in a day (UTC), about errors and of $.send.email; further sends fail",
  }),
  HEADWATER_MAILS_PER_ADDRESS: setting(wholeNumber(1, 1_000_000), {
    unit: "number",
    default: "200",
    reason: "max mails to one address in a day (UTC), which several owners may have",
  }),
  HEADWATER_MAILS_PER_DAY: setting(wholeNumber(1, 100_000_000), {
    unit: "number",
    default: "10000",
    reason: "max mails of the installation in a day (UTC), so that its sender keeps its reputation",
  }),
  ...emailSettings,
};

type MailEnvironment = z.output<z.ZodObject<typeof mailSettings>>;

export const mailsOf = (env: MailEnvironment) => ({
  ...emailOf(env),
  /** Undefined: no mails. */
  smtp:
    env.HEADWATER_SMTP_URL === undefined || env.HEADWATER_MAIL_FROM === undefined
      ? undefined
      : { server: env.HEADWATER_SMTP_URL, from: env.HEADWATER_MAIL_FROM },
  mailLimits: {
    perOwner: env.HEADWATER_MAILS_PER_OWNER,
    perAddress: env.HEADWATER_MAILS_PER_ADDRESS,
    inAll: env.HEADWATER_MAILS_PER_DAY,
  },
});
