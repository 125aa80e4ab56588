import { createHash, randomBytes } from "node:crypto";
import { ConfirmationQueue } from "../../delivery/mail/confirmation-mails.ts";
import { ErrorMailQueue } from "../../delivery/mail/error-mails.ts";
import { MailBudget } from "../../delivery/mail/mail-budget.ts";
import { startMails } from "../../delivery/mail/mail-loop.ts";
import { createOwnerMailer } from "../../delivery/mail/owner-mailer.ts";
import { createSmtpMailer } from "../../platform/mail/smtp.ts";
import type { Database } from "../../platform/postgres/connection.ts";
import { createConfirmations } from "../../platform/postgres/mail/confirmations.ts";
import { createErrorMails, recipientOf } from "../../platform/postgres/mail/error-mails.ts";
import { createMailCounts } from "../../platform/postgres/mail/mail-counts.ts";
import { createMailMetrics } from "../../platform/telemetry/mail-metrics.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { disposeWith, type RoleContext } from "../context.ts";
import { privateAuthorities } from "../private-authorities.ts";
import type { DeliveryParts } from "./delivery-ports.ts";

/** Starts to send mails about errors, and confirmations. Nothing without an SMTP server. @returns the sender of `$.send.email` */
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
  const ports = { mailer, budget, log: logger, metrics, random: Math.random };
  const errors = new ErrorMailQueue({ ...ports, errorMails: createErrorMails(database) }, publicUrl);
  const confirmations = new ConfirmationQueue({ ...ports, confirmations: createConfirmations(database), newToken }, publicUrl);
  disposeWith(opened, startMails([confirmations, errors], ports));
  return { mails: createOwnerMailer({ mailer, budget, recipientOf: (owner) => recipientOf(database, owner), metrics }) };
}

function newToken(): { readonly token: string; readonly hash: string } {
  const token = randomBytes(32).toString("base64url");
  return { token, hash: createHash("sha256").update(token).digest("hex") };
}
