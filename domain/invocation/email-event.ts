import type { EmailAuthentication } from "./email-authentication.ts";

/** The event of a run that an email starts. */
export interface EmailEvent {
  /** The `From` of the message; null if it has none. Anyone can write anything there: `authentication.dmarc` says whether it is genuine. */
  readonly from: EmailAddress | null;
  /** The recipients that the message names, which need not include the address of the workflow. */
  readonly to: readonly EmailAddress[];
  readonly cc: readonly EmailAddress[];
  readonly reply_to: readonly EmailAddress[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** ISO 8601, or as the message has it; null without one. */
  readonly date: string | null;
  readonly message_id: string | null;
  /** By lower-case name; several of one name are a list. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly attachments: readonly EmailAttachment[];
  /** Addresses of the SMTP conversation: the sender ("" of a bounce), and the address of the workflow. */
  readonly envelope: { readonly from: string; readonly to: string };
  /** Address of the server that has sent it. */
  readonly client_ip: string;
  /** Null if the installation does not check. */
  readonly authentication: EmailAuthentication | null;
}

/** What is in the message. */
export type EmailContent = Omit<EmailEvent, "envelope" | "client_ip" | "authentication">;

export interface EmailAddress {
  readonly name: string;
  readonly address: string;
}

export interface EmailAttachment {
  readonly filename: string | null;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** Base64. */
  readonly content: string;
  /** Of a part that the HTML shows, such as an image. */
  readonly contentId?: string;
}

/** The key in an address of this domain, in lower case; undefined for another one. */
export function emailKeyOf(address: string, domain: string): string | undefined {
  const at = address.lastIndexOf("@");
  const isOurs = at > 0 && address.slice(at + 1).toLowerCase() === domain.toLowerCase();
  return isOurs ? address.slice(0, at).toLowerCase() : undefined;
}
