import { errorMail } from "../../domain/mail/error-mail.ts";
import type { MailSession } from "../../domain/mail/outgoing-mail.ts";
import { backoffMs } from "../../domain/retry.ts";
import type { Log } from "../../domain/log.ts";
import type { MailBudget } from "./mail-budget.ts";
import type { ClaimedMail, ErrorMails, LimitedOutcome, MailMetrics, MailQueue } from "./ports.ts";

export interface ErrorMailPorts {
  readonly errorMails: ErrorMails;
  readonly budget: Pick<MailBudget, "send">;
  readonly log: Log;
  readonly metrics?: Pick<MailMetrics, "errorMail" | "suppressed">;
  /** In [0, 1). */
  readonly random: () => number;
}

/** After the server has refused a mail for now. Twelve refusals take about half a day. */
export const again = { firstMs: 60_000, maxMs: 2 * 3_600_000 } as const;
export const maxFailures = 12;

/** Mails about errors. */
export class ErrorMailQueue implements MailQueue {
  readonly #ports: ErrorMailPorts;
  readonly #publicUrl: string;

  /** @param publicUrl of the API, without trailing slash */
  constructor(ports: ErrorMailPorts, publicUrl: string) {
    this.#ports = ports;
    this.#publicUrl = publicUrl;
  }

  hasDue(): Promise<boolean> {
    return this.#ports.errorMails.hasDue();
  }

  async sendNext(session: MailSession): Promise<boolean> {
    const mail = await this.#ports.errorMails.claim();
    if (mail === undefined) return false;
    if (mail === "unwanted") this.#ports.metrics?.errorMail("unwanted");
    else await this.#send(mail, session);
    return true;
  }

  async #send(mail: ClaimedMail, session: MailSession): Promise<void> {
    const { emitter, fingerprint, mailedAt, to, report } = mail;
    const id = `${emitter}.${fingerprint.slice(0, 16)}.${mailedAt}`;
    const message = { id, to, ...errorMail(report, this.#publicUrl) };
    const outcome = await this.#ports.budget.send(report.first.owner, message, (given) => session.send(given));
    await this.#settle(mail, outcome);
    this.#report(mail, outcome);
  }

  async #settle(mail: ClaimedMail, result: LimitedOutcome): Promise<void> {
    const { errorMails, random } = this.#ports;
    if (result.outcome === "sent") return errorMails.settle(mail, { state: "sent" });
    const { outcome, reason } = result;
    if (outcome === "limited") return errorMails.postpone(mail, result.waitMs, reason);
    if (outcome === "unknown") return errorMails.settle(mail, { state: "sending", reason });
    if (outcome === "refused" || mail.failures + 1 >= maxFailures) return errorMails.settle(mail, { state: "refused", reason });
    return errorMails.postpone(mail, backoffMs(mail.failures + 1, again, random()), reason);
  }

  #report({ emitter, report }: ClaimedMail, result: LimitedOutcome): void {
    const { log, metrics } = this.#ports;
    const { outcome } = result;
    const { first, count } = report;
    metrics?.errorMail(outcome);
    if (outcome === "sent") metrics?.suppressed(count - 1);
    const fields = {
      op: "mail.send",
      outcome,
      "source.id": emitter,
      "owner.id": first.owner,
      ...(first.run === null ? {} : { "run.id": first.run }),
      count,
    };
    if (result.outcome === "sent") log.info(fields);
    else log.warn({ ...fields, reason: result.reason }, `a mail about an error was not sent: ${messages[result.outcome]}`);
  }
}

export const messages: Readonly<Record<Exclude<LimitedOutcome["outcome"], "sent">, string>> = {
  limited: "a limit of mails is used up, it is sent when the limit ends",
  retry: "the server refused it for now, it is tried again",
  refused: "the server refused it",
  unknown: "the connection was lost before the server's answer; it may have arrived, so it is not repeated",
};
