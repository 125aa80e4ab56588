import { startErrorMails } from "../../delivery/mail/error-mails.ts";
import { MailBudget } from "../../delivery/mail/mail-budget.ts";
import { createOwnerMailer } from "../../delivery/mail/owner-mailer.ts";
import { createSmtpMailer } from "../../platform/mail/smtp.ts";
import type { Database } from "../../platform/postgres/connection.ts";
import { addressOf, createErrorMails } from "../../platform/postgres/mail/error-mails.ts";
import { createMailCounts } from "../../platform/postgres/mail/mail-counts.ts";
import { createMailMetrics } from "../../platform/telemetry/mail-metrics.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { disposeWith, type RoleContext } from "../context.ts";
import { privateAuthorities } from "../private-authorities.ts";
import type { DeliveryParts } from "./delivery-ports.ts";

/** Starts to send mails about errors. Nothing without an SMTP server. @returns the sender of `$.send.email` */
export function openMails(
  { configuration, logger }: RoleContext,
  database: Database,
  opened: AsyncDisposableStack,
): Pick<DeliveryParts, "mails"> {
  const { smtp, publicUrl, mailLimits } = configuration;
  const metrics = createMailMetrics(processMetrics());
  if (smtp === undefined) return {};
  const mailer = createSmtpMailer({ ...smtp, trusted: privateAuthorities("HEADWATER_SMTP_CA", configuration, logger) });
  const budget = new MailBudget(createMailCounts(database), mailLimits);
  const ports = { errorMails: createErrorMails(database), mailer, budget, log: logger, metrics, random: Math.random };
  disposeWith(opened, startErrorMails(ports, { publicUrl }));
  return { mails: createOwnerMailer({ mailer, budget, addressOf: (owner) => addressOf(database, owner), metrics }) };
}
