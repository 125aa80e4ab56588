import type { MailOutcome, Mailer } from "../../domain/mail/outgoing-mail.ts";
import type { MailMetrics, OwnerMailer } from "./ports.ts";

export interface OwnerMailerPorts {
  readonly mailer: Mailer;
  /** Undefined: there is no such user or organization. @throws Unavailable */
  readonly addressOf: (owner: string) => Promise<string | undefined>;
  readonly metrics?: Pick<MailMetrics, "ownMail">;
}

export function createOwnerMailer({ mailer, addressOf, metrics }: OwnerMailerPorts): OwnerMailer {
  return {
    async sendTo(owner, mail) {
      const result = await addressOf(owner).then(
        (to): MailOutcome | Promise<MailOutcome> =>
          to === undefined ? { outcome: "refused", reason: `${owner} has no address` } : mailer.send({ ...mail, to }),
        (error: unknown): MailOutcome => ({ outcome: "retry", reason: error instanceof Error ? error.message : String(error) }),
      );
      metrics?.ownMail(result.outcome);
      return result;
    },
  };
}
