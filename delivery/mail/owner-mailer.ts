import { kindOfId } from "../../domain/ids.ts";
import type { Mailer } from "../../domain/mail/outgoing-mail.ts";
import type { MailBudget } from "./mail-budget.ts";
import type { LimitedOutcome, MailMetrics, OwnerMailer, Recipient } from "./ports.ts";

export interface OwnerMailerPorts {
  readonly mailer: Pick<Mailer, "send">;
  /** Undefined: there is no such user or organization. @throws Unavailable */
  readonly recipientOf: (owner: string) => Promise<Recipient | undefined>;
  readonly budget: Pick<MailBudget, "send">;
  readonly metrics?: Pick<MailMetrics, "ownMail">;
}

export function createOwnerMailer({ mailer, recipientOf, budget, metrics }: OwnerMailerPorts): OwnerMailer {
  return {
    async sendTo(owner, mail) {
      const result = await recipientOf(owner).then(
        (recipient): LimitedOutcome | Promise<LimitedOutcome> =>
          recipient?.isConfirmed === true
            ? budget.send(owner, { ...mail, to: recipient.address }, (addressed) => mailer.send(addressed))
            : { outcome: "refused", reason: recipient === undefined ? `${owner} has no address` : unconfirmed(owner) },
        (error: unknown): LimitedOutcome => ({ outcome: "retry", reason: error instanceof Error ? error.message : String(error) }),
      );
      metrics?.ownMail(result.outcome);
      return result;
    },
  };
}

function unconfirmed(owner: string): string {
  const path = kindOfId(owner) === "organization" ? `orgs/${owner}` : "users/me";
  return `the address of ${owner} is not confirmed: have a link mailed there in the console or with POST /v1/${path}/email_confirmation, open it, then deliver this again`;
}
