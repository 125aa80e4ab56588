import { errorMail } from "../../domain/mail/error-mail.ts";
import type { Mailer, MailSession } from "../../domain/mail/outgoing-mail.ts";
import { backoffMs, pause } from "../../domain/retry.ts";
import type { Log } from "../ports.ts";
import type { Reading } from "../routing/ports.ts";
import type { MailBudget } from "./mail-budget.ts";
import type { ClaimedMail, ErrorMails, LimitedOutcome, MailMetrics } from "./ports.ts";

export interface ErrorMailPorts {
  readonly errorMails: ErrorMails;
  readonly mailer: Mailer;
  readonly budget: Pick<MailBudget, "send">;
  readonly log: Log;
  readonly metrics?: Pick<MailMetrics, "errorMail" | "suppressed">;
  /** In [0, 1). */
  readonly random: () => number;
}

export interface ErrorMailOptions {
  /** Of the API, without trailing slash. */
  readonly publicUrl: string;
  readonly intervalMs?: number;
}

const defaultIntervalMs = 2_000;
/** While the server is away. */
const reconnect = { firstMs: 2_000, maxMs: 5 * 60_000 } as const;
/** After the server has refused a mail for now. Twelve refusals take about half a day. */
const again = { firstMs: 60_000, maxMs: 2 * 3_600_000 } as const;
const maxFailures = 12;
const settleMs = 3_000;

/** Sends due mails about errors until it is stopped. Any number of processes may do it at once. */
export function startErrorMails(ports: ErrorMailPorts, options: ErrorMailOptions): Reading {
  const sending = new ErrorMailLoop(ports, options);
  const running = sending.run(); // Never rejects.
  return {
    stop: async () => {
      const stopped = sending.stop();
      await running;
      stopped();
    },
  };
}

class ErrorMailLoop {
  readonly #ports: ErrorMailPorts;
  readonly #options: ErrorMailOptions;
  readonly #stopping = new AbortController();
  #session: MailSession | undefined;

  constructor(ports: ErrorMailPorts, options: ErrorMailOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { signal } = this.#stopping;
    const { intervalMs = defaultIntervalMs } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      try {
        if (await this.#ports.errorMails.hasDue()) await this.#sendDue();
        failures = 0;
      } catch (error) {
        failures++;
        if (!signal.aborted) this.#ports.log.warn({ op: "mail.send", err: error }, "mails about errors wait, trying again");
      }
      await pause(failures === 0 ? intervalMs : backoffMs(failures, reconnect, this.#ports.random()), signal);
    }
  }

  /** A mail that is being sent has a moment to end. @returns what to call after the end */
  stop(): () => void {
    this.#stopping.abort();
    const ended = new AbortController();
    void pause(settleMs, ended.signal).then(() => this.#session?.close()); // Never rejects.
    return () => ended.abort();
  }

  /** Connects first: while the server is away, no mail is claimed. */
  async #sendDue(): Promise<void> {
    const { errorMails, mailer, metrics } = this.#ports;
    const session = await mailer.connect(this.#stopping.signal);
    this.#session = session;
    try {
      while (!this.#stopping.signal.aborted && session.isOpen) {
        const mail = await errorMails.claim();
        if (mail === undefined) return;
        if (mail === "unwanted") metrics?.errorMail("unwanted");
        else await this.#send(mail, session);
      }
    } finally {
      this.#session = undefined;
      session.close();
    }
  }

  async #send(mail: ClaimedMail, session: MailSession): Promise<void> {
    const { emitter, fingerprint, mailedAt, to, report } = mail;
    const id = `${emitter}.${fingerprint.slice(0, 16)}.${mailedAt}`;
    const message = { id, to, ...errorMail(report, this.#options.publicUrl) };
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
    const fields = { op: "mail.send", outcome, "source.id": emitter, "owner.id": first.owner, "run.id": first.run, count };
    if (result.outcome === "sent") log.info(fields);
    else log.warn({ ...fields, reason: result.reason }, `a mail about an error was not sent: ${messages[result.outcome]}`);
  }
}

const messages: Readonly<Record<Exclude<LimitedOutcome["outcome"], "sent">, string>> = {
  limited: "a limit of mails is used up, it is sent when the limit ends",
  retry: "the server refused it for now, it is tried again",
  refused: "the server refused it",
  unknown: "the connection was lost before the server's answer; it may have arrived, so it is not repeated",
};
