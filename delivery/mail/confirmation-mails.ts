import { confirmationMail } from "../../domain/mail/confirmation-mail.ts";
import type { MailSession } from "../../domain/mail/outgoing-mail.ts";
import { backoffMs } from "../../domain/retry.ts";
import type { Log } from "../../domain/log.ts";
import { again, maxFailures, messages } from "./error-mails.ts";
import type { MailBudget } from "./mail-budget.ts";
import type { ClaimedConfirmation, Confirmations, LimitedOutcome, MailMetrics, MailQueue } from "./ports.ts";

export interface ConfirmationMailPorts {
  readonly confirmations: Confirmations;
  readonly budget: Pick<MailBudget, "send">;
  /** Makes the token of a link. */
  readonly newToken: () => { readonly token: string; /** SHA-256, lower-case hex. */ readonly hash: string };
  readonly log: Log;
  readonly metrics?: Pick<MailMetrics, "confirmation">;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Mails with the link that confirms an address. Only the mail has the token: Postgres has its hash. */
export class ConfirmationQueue implements MailQueue {
  readonly #ports: ConfirmationMailPorts;
  readonly #publicUrl: string;

  /** @param publicUrl of the API, without trailing slash */
  constructor(ports: ConfirmationMailPorts, publicUrl: string) {
    this.#ports = ports;
    this.#publicUrl = publicUrl;
  }

  hasDue(): Promise<boolean> {
    return this.#ports.confirmations.hasDue();
  }

  async sendNext(session: MailSession): Promise<boolean> {
    const { confirmations, newToken, metrics } = this.#ports;
    const { token, hash } = newToken();
    const claimed = await confirmations.claim(hash);
    if (claimed === undefined) return false;
    if (claimed === "unwanted") metrics?.confirmation("unwanted");
    else await this.#send(claimed, token, session);
    return true;
  }

  async #send(claimed: ClaimedConfirmation, token: string, session: MailSession): Promise<void> {
    const { owner, to, tokenHash } = claimed;
    const mail = {
      id: `confirm.${tokenHash.slice(0, 24)}`,
      to,
      ...confirmationMail(owner, `${this.#publicUrl}/confirm-email?token=${token}`),
    };
    const result = await this.#ports.budget.send(owner, mail, (given) => session.send(given));
    await this.#settle(claimed, result);
    this.#ports.metrics?.confirmation(result.outcome);
    const fields = { op: "mail.send", outcome: result.outcome, "owner.id": owner };
    if (result.outcome === "sent") this.#ports.log.info(fields);
    else this.#ports.log.warn({ ...fields, reason: result.reason }, `a confirmation was not sent: ${messages[result.outcome]}`);
  }

  async #settle(claimed: ClaimedConfirmation, result: LimitedOutcome): Promise<void> {
    const { confirmations, random } = this.#ports;
    if (result.outcome === "sent") return confirmations.settle(claimed, { state: "sent" });
    const { outcome, reason } = result;
    // It may have arrived: its link stays valid, and the owner can request another one.
    if (outcome === "unknown") return confirmations.settle(claimed, { state: "sent", reason });
    if (outcome === "limited") return confirmations.postpone(claimed, result.waitMs, reason);
    if (outcome === "refused" || claimed.failures + 1 >= maxFailures) return confirmations.settle(claimed, { state: "refused", reason });
    return confirmations.postpone(claimed, backoffMs(claimed.failures + 1, again, random()), reason);
  }
}
