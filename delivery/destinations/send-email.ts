import { assertNever } from "../../domain/errors.ts";
import type { OwnerMailer } from "../mail/ports.ts";
import { impossible } from "./destination.ts";
import type { Send } from "./send.ts";

/** `$.send.email`: a mail to the owner of the workflow. @param mails absent: the installation sends none */
export const emailSend = (mails: OwnerMailer | undefined): Send<"email"> => ({
  kind: "email",
  storesBeforeFirstAttempt: true,
  async carryOut({ subject, text, html }, { id, event }) {
    if (mails === undefined) return impossible("this installation sends no mails: HEADWATER_SMTP_URL is not set");
    const htmlPart = typeof html === "string" && html !== "" ? { html } : {};
    const sent = await mails.sendTo(event.owner, { id, subject, text: text ?? "", ...htmlPart });
    switch (sent.outcome) {
      case "sent":
        return { outcome: "delivered", status: null };
      case "retry":
        return { outcome: "retry", status: null, error: sent.reason, retryAfter: undefined };
      case "refused":
      case "limited":
        return impossible(sent.reason);
      case "unknown":
        return impossible(`the mail server may have accepted the mail, so it is not sent again: ${sent.reason}`);
      default:
        return assertNever(sent);
    }
  },
});
