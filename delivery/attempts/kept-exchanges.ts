import type { Exchange, KeptResponse } from "../../domain/delivery/exchange.ts";

/** Bounds of one batch, in characters of headers and bodies. */
const maxResponses = 2 ** 20;
const maxResponsesOfWebhook = maxResponses / 8;
const maxRequests = 2 ** 25;

const withoutContent: KeptResponse = { headers: [], areHeadersCut: true, body: "", encoding: "utf-8", isCut: true };

/**
 * Bounds what a batch of attempts keeps of requests and responses: Postgres takes up to 2.5 ms for a response of 16 KiB, and attempts at the
 * webhooks of all owners are written one batch after the other. Beyond the bounds, responses are stored without headers and body, and
 * finally attempts without requests.
 */
export class KeptExchanges {
  readonly #ofWebhooks = new Map<string, number>();
  #responses = 0;
  #requests = 0;

  /** Undefined: nothing of it is kept. */
  keep(webhook: string, exchange: Exchange): Exchange | undefined {
    this.#requests += exchange.url.length + lengthOf(exchange.sent);
    if (this.#requests > maxRequests) return undefined;
    const { response } = exchange;
    if (response === undefined) return exchange;
    const length = lengthOf(response.headers) + response.body.length;
    const ofWebhook = (this.#ofWebhooks.get(webhook) ?? 0) + length;
    if (ofWebhook > maxResponsesOfWebhook || this.#responses + length > maxResponses) return { ...exchange, response: withoutContent };
    this.#responses += length;
    this.#ofWebhooks.set(webhook, ofWebhook);
    return exchange;
  }
}

const lengthOf = (headers: Exchange["sent"]): number => headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
