import type { Mailer } from "../../domain/mail/outgoing-mail.ts";
import type { MailBudget } from "./mail-budget.ts";
import type { LimitedOutcome, MailMetrics, OwnerMailer } from "./ports.ts";

export interface OwnerMailerPorts {
  readonly mailer: Pick<Mailer, "send">;
  /** Undefined: there is no such user or organization. @throws Unavailable */
  readonly addressOf: (owner: string) => Promise<string | undefined>;
  readonly budget: Pick<MailBudget, "send">;
  readonly metrics?: Pick<MailMetrics, "ownMail">;
}

export function createOwnerMailer({ mailer, addressOf, budget, metrics }: OwnerMailerPorts): OwnerMailer {
  return {
    async sendTo(owner, mail) {
      const result = await addressOf(owner).then(
        (to): LimitedOutcome | Promise<LimitedOutcome> =>
          to === undefined
            ? { outcome: "refused", reason: `${owner} has no address` }
            : budget.send(owner, { ...mail, to }, (addressed) => mailer.send(addressed)),
        (error: unknown): LimitedOutcome => ({ outcome: "retry", reason: error instanceof Error ? error.message : String(error) }),
      );
      metrics?.ownMail(result.outcome);
      return result;
    },
  };
}
