import type { OutgoingMail } from "./outgoing-mail.ts";

/**
 * The mail that asks whether an address wants mails. It has no text of a user's choice: anyone may name any address.
 * @param owner id of the user or organization
 */
export function confirmationMail(owner: string, link: string): Pick<OutgoingMail, "subject" | "text"> {
  return {
    subject: "[Headwater] Confirm your address",
    text: `${owner} has named this address for its mails: about errors, and those that its workflows send.

If that is right, open this link within 24 hours and press the button:

${link}

Otherwise do nothing: without the confirmation, no other mail comes.
`,
  };
}
