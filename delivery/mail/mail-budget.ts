import type { MailOutcome, OutgoingMail } from "../../domain/mail/outgoing-mail.ts";
import type { CountedScope, LimitedOutcome, MailCounts } from "./ports.ts";

/** Mails within a day in UTC. */
export interface MailLimits {
  /** To one user or organization. */
  readonly perOwner: number;
  /** To one address, whichever owners it has. */
  readonly perAddress: number;
  /** Of the installation. */
  readonly inAll: number;
}

/**
 * Sends mails within the limits. Postgres counts them, for all replicas and across restarts, before each is sent. A mail that the server
 * has not taken is not counted.
 */
export class MailBudget {
  readonly #counts: MailCounts;
  readonly #limits: MailLimits;

  constructor(counts: MailCounts, limits: MailLimits) {
    this.#counts = counts;
    this.#limits = limits;
  }

  /** Never rejects. @param more limits of this kind of mail, besides those of all */
  async send(
    owner: string,
    mail: OutgoingMail,
    send: (mail: OutgoingMail) => Promise<MailOutcome>,
    more: readonly CountedScope[] = [],
  ): Promise<LimitedOutcome> {
    const scopes = [...this.#scopesOf(owner, mail.to), ...more];
    try {
      const counted = await this.#counts.take(scopes);
      if (counted.exceeded !== undefined) return limited(counted.exceeded, counted);
      const result = await send(mail);
      if (result.outcome === "retry") await this.#counts.giveBack(scopes, counted.dayMs);
      return result;
    } catch (error) {
      return { outcome: "retry", reason: error instanceof Error ? error.message : String(error) };
    }
  }

  #scopesOf(owner: string, to: string): readonly CountedScope[] {
    const { perOwner, perAddress, inAll } = this.#limits;
    return [
      { scope: `owner ${owner}`, max: perOwner, what: `mails a day to ${owner}` },
      { scope: `address ${to.toLowerCase()}`, max: perAddress, what: "mails a day to this address" },
      { scope: "all", max: inAll, what: "mails a day of this installation" },
    ];
  }
}

function limited({ max, what }: CountedScope, { dayMs, nowMs }: { readonly dayMs: number; readonly nowMs: number }): LimitedOutcome {
  const endMs = dayMs + 86_400_000;
  const until = new Date(endMs).toISOString();
  return { outcome: "limited", waitMs: endMs - nowMs, reason: `the limit of ${max} ${what} is used up until ${until}: send it again then` };
}
