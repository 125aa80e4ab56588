import type { ErrorReport } from "../../domain/mail/error-mail.ts";
import type { MailOutcome, MailSession, OutgoingMail } from "../../domain/mail/outgoing-mail.ts";

/** Postgres: errors that are to be mailed, see docs/decisions/0096-mails-about-errors.md. The recorder adds them. */
export interface ErrorMails {
  /** Also deletes errors that did not happen again within 24 hours. */
  hasDue(): Promise<boolean>;
  /**
   * Takes one due mail, which no other replica gets then: whatever happens to this process, nothing else is mailed about its error for 24
   * hours, unless it is postponed. `unwanted`: one was due, but its owner gets no mails, or has no confirmed address. Undefined: none is due.
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

/** Postgres: addresses of owners that are to be confirmed. The API adds them. */
export interface Confirmations {
  hasDue(): Promise<boolean>;
  /**
   * Takes one due confirmation, which no other replica gets then. `unwanted`: one was due, but is not needed any more. Undefined: none is.
   * @param tokenHash of the link in the mail, SHA-256, lower-case hex
   */
  claim(tokenHash: string): Promise<ClaimedConfirmation | "unwanted" | undefined>;
  settle(claimed: ClaimedConfirmation, result: { readonly state: "sent" | "refused"; readonly reason?: string }): Promise<void>;
  /** Makes the confirmation due again after a time. The link ends. */
  postpone(claimed: ClaimedConfirmation, waitMs: number, reason: string): Promise<void>;
}

export interface ClaimedConfirmation {
  readonly owner: string;
  readonly to: string;
  readonly tokenHash: string;
  /** How often it was postponed. */
  readonly failures: number;
}

export interface Recipient {
  readonly address: string;
  /** Its holder has agreed to get mails. */
  readonly isConfirmed: boolean;
}

/** Mails that are sent one after the other over an open connection. */
export interface MailQueue {
  hasDue(): Promise<boolean>;
  /** Sends one due mail, or ends one that is not wanted. @returns false if none is due */
  sendNext(session: MailSession): Promise<boolean>;
}

/** Sends mails that owners ask for, by `$.send.email`. */
export interface OwnerMailer {
  /**
   * To the owner's address, and no other. `refused` if the installation sends no mails, if the owner is gone, or if the address is not
   * confirmed. Never rejects.
   */
  sendTo(owner: string, mail: Omit<OutgoingMail, "to">): Promise<LimitedOutcome>;
}

/** `limited`: a limit is used up, and the server was not asked. */
export type LimitedOutcome =
  | MailOutcome
  | { readonly outcome: "limited"; /** For the owner. */ readonly reason: string; readonly waitMs: number };

/** Postgres: mails of a day in UTC, by scope. */
export interface MailCounts {
  /** Counts a mail in all of these scopes, or in none of them if one has reached its maximum. @throws Unavailable */
  take(scopes: readonly CountedScope[]): Promise<{ readonly dayMs: number; readonly nowMs: number; readonly exceeded?: CountedScope }>;
  /** The mail was not sent. @param dayMs the day that counted it @throws Unavailable */
  giveBack(scopes: readonly CountedScope[], dayMs: number): Promise<void>;
}

export interface CountedScope {
  /** Unique, such as `owner u_1`. */
  readonly scope: string;
  readonly max: number;
  /** What the maximum counts, for messages. */
  readonly what: string;
}

export interface MailMetrics {
  /** `unwanted`: its owner gets no mails. */
  errorMail(outcome: LimitedOutcome["outcome"] | "unwanted"): void;
  confirmation(outcome: LimitedOutcome["outcome"] | "unwanted"): void;
  /** Errors that a mail reports beside the first. */
  suppressed(count: number): void;
  ownMail(outcome: LimitedOutcome["outcome"]): void;
}
