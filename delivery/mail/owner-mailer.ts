import type { Mailer } from "../../domain/mail/outgoing-mail.ts";
import type { MailMetrics, OwnerMailer } from "./ports.ts";

export interface OwnerMailerPorts {
  /** Absent: the installation sends no mails. */
  readonly mailer: Mailer | undefined;
  /** Undefined: there is no such user or organization. @throws Unavailable */
  readonly addressOf: (owner: string) => Promise<string | undefined>;
  readonly metrics?: Pick<MailMetrics, "ownMail">;
}

export function createOwnerMailer({ mailer, addressOf, metrics }: OwnerMailerPorts): OwnerMailer {
  return {
    async sendTo(owner, mail) {
      const result = await send();
      metrics?.ownMail(result.outcome);
      return result;

      async function send() {
        if (mailer === undefined)
          return { outcome: "refused", reason: "this installation sends no mails: HEADWATER_SMTP_URL is not set" } as const;
        try {
          const to = await addressOf(owner);
          return to === undefined
            ? ({ outcome: "refused", reason: `${owner} has no address` } as const)
            : await mailer.send({ ...mail, to });
        } catch (error) {
          return { outcome: "retry", reason: error instanceof Error ? error.message : String(error) } as const;
        }
      }
    },
  };
}
