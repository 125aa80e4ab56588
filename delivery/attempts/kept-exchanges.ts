import { lengthOf, type Exchange, type KeptResponse, type RawExchange } from "../../domain/delivery/exchange.ts";

/** Bounds of one batch, in characters of headers and bodies. */
const maxResponses = 2 ** 20;
const maxResponsesOfWebhook = maxResponses / 8;
const maxResponsesOfOwner = maxResponses / 4;
const maxRequests = 2 ** 25;

const withoutContent: KeptResponse = { headers: [], areHeadersCut: true, body: "", encoding: "utf-8", isCut: true };

/**
 * Bounds what a batch of attempts keeps of requests and responses: Postgres takes up to 2.5 ms for a response of 16 KiB, and this process up
 * to one to mask it; and attempts at the webhooks of all owners are written one batch after the other. Beyond the bounds, responses are stored without headers and body, and
 * finally attempts without requests.
 */
export class KeptExchanges {
  /** By webhook, and by owner. */
  readonly #held = new Map<string, number>();
  #responses = 0;
  #requests = 0;

  /** Undefined: nothing of it is kept. */
  keep(webhook: string, owner: string, { request, responseBytes, withResponse }: RawExchange): Exchange | undefined {
    this.#requests += request.url.length + lengthOf(request.sent);
    if (this.#requests > maxRequests) return undefined;
    if (responseBytes === undefined) return request;
    const hasRoom =
      this.#responses + responseBytes <= maxResponses &&
      this.#heldBy(webhook) + responseBytes <= maxResponsesOfWebhook &&
      this.#heldBy(owner) + responseBytes <= maxResponsesOfOwner;
    if (!hasRoom) return { ...request, response: withoutContent };
    const exchange = withResponse();
    const { headers, body } = exchange.response ?? withoutContent;
    // Base64 is longer, and what is cut is shorter.
    const length = lengthOf(headers) + body.length;
    this.#responses += length;
    for (const holder of [webhook, owner]) this.#held.set(holder, this.#heldBy(holder) + length);
    return exchange;
  }

  #heldBy(holder: string): number {
    return this.#held.get(holder) ?? 0;
  }
}
