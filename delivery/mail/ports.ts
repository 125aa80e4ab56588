import type { ErrorReport } from "../../domain/mail/error-mail.ts";
import type { MailOutcome, OutgoingMail } from "../../domain/mail/outgoing-mail.ts";

/** Postgres: errors that are to be mailed, see docs/decisions/0096-mails-about-errors.md. The recorder adds them. */
export interface ErrorMails {
  /** Also deletes errors that did not happen again within 24 hours. */
  hasDue(): Promise<boolean>;
  /**
   * Takes one due mail, which no other replica gets then: whatever happens to this process, nothing else is mailed about its error for 24
   * hours, unless it is postponed. `unwanted`: one was due, but its owner gets no mails. Undefined: none is due.
   */
  claim(): Promise<ClaimedMail | "unwanted" | undefined>;
  /** `sending`: it may have been sent. */
  settle(mail: ClaimedMail, result: { readonly state: "sent" | "refused" | "sending"; readonly reason?: string }): Promise<void>;
  /** Makes the mail due again after a time, with what it reports. */
  postpone(mail: ClaimedMail, waitMs: number, reason: string): Promise<void>;
}

export interface ClaimedMail {
  readonly emitter: string;
  readonly fingerprint: string;
  /** Epoch ms of the claim, which identifies it. */
  readonly mailedAt: number;
  /** Address of the owner. */
  readonly to: string;
  /** How often the server has refused it. */
  readonly failures: number;
  readonly report: ErrorReport;
}

/** Sends mails that owners ask for, by `$.send.email`. */
export interface OwnerMailer {
  /** To the owner's address, and no other. `refused` if the installation sends no mails, or the owner is gone. Never rejects. */
  sendTo(owner: string, mail: Omit<OutgoingMail, "to">): Promise<MailOutcome>;
}

export interface MailMetrics {
  /** `unwanted`: its owner gets no mails. */
  errorMail(outcome: MailOutcome["outcome"] | "unwanted"): void;
  /** Errors that a mail reports beside the first. */
  suppressed(count: number): void;
  ownMail(outcome: MailOutcome["outcome"]): void;
}
