import type { Generated } from "kysely";

/**
 * A distinct error of an emitter. Its states:
 *
 * | state | next | when |
 * |---|---|---|
 * | due | sending | a replica claims it, at or after `due_ms` |
 * | sending | sent | the server accepted the mail, or may have |
 * | sending | due | the server refused it for now |
 * | sending | refused | the server refused it permanently |
 * | sending, sent, refused | sending | it happened again, and `due_ms` has passed; if it did not, the row is deleted then |
 */
export interface ErrorMailTable {
  readonly emitter: string;
  /** SHA-256 of code, message without variable parts, and step; empty: all errors for which the emitter has too many rows. */
  readonly fingerprint: string;
  readonly owner: string;
  readonly state: Generated<"due" | "sending" | "sent" | "refused">;
  /** When the next mail may be sent. */
  readonly due_ms: Generated<number>;
  /** Number of errors that no mail has reported. */
  readonly occurrences: number;
  /** JSON of the first of them, an ErrorOccurrence. */
  readonly first: string;
  /** Time of the last of them. */
  readonly last_ms: number;
  /** When the last mail was claimed; null: none was. */
  readonly mailed_ms: number | null;
  /** Number of refusals of the current mail in a row. */
  readonly failures: Generated<number>;
  /** The last refusal. */
  readonly reason: string | null;
}

/** Number of mails of a scope (an owner, an address, the installation) in a day. */
export interface MailCountTable {
  readonly scope: string;
  /** Start of the day in UTC. */
  readonly day_ms: number;
  readonly mails: number;
}

/**
 * The confirmation of an owner's address that was requested last. It is deleted when its link is opened. Its states:
 *
 * | state | next | when |
 * |---|---|---|
 * | due | sending | a replica of the delivery role claims it, at or after `due_ms`, and makes the token of its link |
 * | sending | sent | the server accepted the mail, or may have |
 * | sending | due | the server refused it for now, or a limit of mails was used up |
 * | sending | refused | the server refused it permanently |
 * | any | due | the owner requests it again; an earlier link ends |
 */
export interface EmailConfirmationTable {
  /** `u_…` or `o_…`. */
  readonly owner: string;
  /** When it was requested. If the owner's is another one by now, nothing is sent or confirmed. */
  readonly email: string;
  readonly state: Generated<"due" | "sending" | "sent" | "refused">;
  readonly due_ms: number;
  /** Number of refusals in a row. */
  readonly failures: Generated<number>;
  /** SHA-256 of the link's token, lower-case hex; null before it was claimed. */
  readonly token_hash: string | null;
  /** When the link ends. */
  readonly expires_ms: number | null;
  /** The last refusal. */
  readonly reason: string | null;
}
