/** A mail to the address of one owner. */
export interface OutgoingMail {
  /** Unique and stable over repetitions; letters, digits, `.`, `_` and `-`. It becomes part of the Message-ID. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
  readonly html?: string;
}

/**
 * What became of a mail:
 *
 * | outcome | the server |
 * |---|---|
 * | sent | has accepted it |
 * | retry | was not reached, or refused it for now: nothing was handed over |
 * | refused | refused it permanently |
 * | unknown | received all of it, and was lost before it answered: it may have accepted it |
 */
export type MailOutcome =
  | { readonly outcome: "sent" }
  | { readonly outcome: "retry" | "refused" | "unknown"; /** For logs; contains no secret. */ readonly reason: string };

/** The SMTP server of the installation. */
export interface Mailer {
  /** Connects and logs in. @throws Unavailable */
  connect(signal?: AbortSignal): Promise<MailSession>;
  /** Sends one mail over a connection of its own. Never rejects. */
  send(mail: OutgoingMail): Promise<MailOutcome>;
}

/** An open connection, for one mail at a time. */
export interface MailSession {
  /** Never rejects. After `retry` or `unknown`, the connection may be unusable: `isOpen` says so. */
  send(mail: OutgoingMail): Promise<MailOutcome>;
  readonly isOpen: boolean;
  close(): void;
}

const maxSubject = 250;
const maxBody = 1_048_576;
const controls = /\p{Cc}+/gu;

/**
 * The mail with texts that are safe to send: bounded, valid Unicode, and a subject of one line, so that no text becomes a header. A body
 * that is too long ends with a note.
 */
export function safeMail(mail: OutgoingMail): OutgoingMail {
  const subject = bounded(mail.subject.replace(controls, " ").trim(), maxSubject) || "(no subject)";
  const html = mail.html === undefined ? {} : { html: body(mail.html) };
  return { ...mail, subject, text: body(mail.text), ...html };
}

const body = (text: string): string => {
  const valid = text.replaceAll("\0", "\uFFFD");
  return valid.length <= maxBody ? valid.toWellFormed() : `${valid.slice(0, maxBody).toWellFormed()}\n… cut after ${maxBody} characters`;
};

/** At most `max` characters of the text; a longer one ends with `…`. Unpaired surrogates are replaced. */
export function bounded(text: string, max: number): string {
  return (text.length <= max ? text : `${text.slice(0, max - 1)}…`).toWellFormed();
}

const addressPattern = /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]{1,190}$/u;

/** Whether the text is exactly one address: a list or a name beside it would send the mail to others. */
export const isAddress = (text: string): boolean => addressPattern.test(text) && text.isWellFormed();
