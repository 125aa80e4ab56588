import { LRUCache } from "lru-cache";
import { parseSigningKey, signatureHeaders, type SigningKey } from "../../domain/delivery/webhook-signature.ts";
import { replayIn } from "../../domain/event/replay.ts";
import { traceContext } from "../../domain/traces.ts";
import type { PostResult } from "./ports.ts";
import type { DeliveryPorts } from "../ports.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Webhook } from "../routing/routes.ts";

/** Result of an attempt. `listener-gone`: the webhook returned 410 or is disabled, or a send cannot succeed: it is not attempted again. */
export type Outcome =
  | { readonly outcome: "delivered"; readonly status: number | null }
  | {
      readonly outcome: "retry";
      readonly status: number | null;
      readonly error: string;
      readonly retryAfter: string | undefined;
    }
  | { readonly outcome: "listener-gone"; readonly status: number | null; readonly error: string };

/** An attempt that has ended. */
export interface Attempted {
  readonly outcome: Outcome;
  /** Start in epoch ms. */
  readonly at: number;
  readonly durationMs: number;
}

/** Posts the emitted payload as it is, without envelope, with both signatures (Standard Webhooks, and the older header). */
export class WebhookDeliverer {
  readonly #ports: Pick<DeliveryPorts, "poster" | "secrets" | "hmac" | "clock">;
  /** Opened signing keys by their sealed form. */
  readonly #keys = new LRUCache<string, SigningKey>({ max: 10_000 });
  /** Authorization headers by their sealed credentials. */
  readonly #authorizations = new LRUCache<string, string>({ max: 10_000 });

  constructor(ports: Pick<DeliveryPorts, "poster" | "secrets" | "hmac" | "clock">) {
    this.#ports = ports;
  }

  /** @param traceparent of the attempt's span, which the receiver continues */
  async attempt(delivery: Delivery, webhook: Webhook, traceparent: string | undefined): Promise<Outcome> {
    const { event } = delivery;
    const keys = this.#openedKeys(webhook.keys) ?? (await Promise.all(webhook.keys.map((sealed) => this.#openKey(sealed))));
    const headers = signatureHeaders(
      { id: event.emitId, emitter: event.source, at: this.#ports.clock.now(), body: event.payload },
      keys,
      this.#ports.hmac,
    );
    const authorization = webhook.basicAuth === undefined ? {} : { authorization: await this.#authorization(webhook.basicAuth) };
    const result = await this.#ports.poster.post({
      url: webhook.url,
      headers: {
        "content-type": "application/json",
        ...replayHeader(event),
        ...traceContext({ traceparent, tracestate: event.tracestate }),
        ...authorization,
        ...headers,
      },
      body: event.payload,
    });
    return outcomeOf(result, "redirects are not followed, give the webhook the final address");
  }

  /** Undefined if one of the keys must be opened first. */
  #openedKeys(sealed: readonly string[]): readonly SigningKey[] | undefined {
    const keys: SigningKey[] = [];
    for (const each of sealed) {
      const key = this.#keys.get(each);
      if (key === undefined) return undefined;
      keys.push(key);
    }
    return keys;
  }

  async #openKey(sealed: string): Promise<SigningKey> {
    const key = parseSigningKey(await this.#ports.secrets.open(sealed));
    this.#keys.set(sealed, key);
    return key;
  }

  async #authorization(sealed: string): Promise<string> {
    const cached = this.#authorizations.get(sealed);
    if (cached !== undefined) return cached;
    const header = `Basic ${Buffer.from(await this.#ports.secrets.open(sealed)).toString("base64")}`;
    this.#authorizations.set(sealed, header);
    return header;
  }
}

/** Read from the emit id, because a redelivered dead letter has no other trace of its replay. */
function replayHeader({ emitId }: Delivery["event"]): Readonly<Record<string, string>> {
  const replay = replayIn(emitId);
  return replay === undefined ? {} : { "x-headwater-replay": replay };
}

/** 2xx is delivered, 410 is gone; everything else is retried. @param redirectAdvice what to do about a redirect */
export function outcomeOf(result: PostResult, redirectAdvice: string): Outcome {
  if (result.outcome === "unreachable")
    return { outcome: "retry", status: null, error: `${result.code}: ${result.message}`, retryAfter: undefined };
  const { status, retryAfter } = result;
  if (status >= 200 && status < 300) return { outcome: "delivered", status };
  if (status === 410) return { outcome: "listener-gone", status, error: "the endpoint answered 410 Gone" };
  const error = status >= 300 && status < 400 ? `the endpoint answered ${status}: ${redirectAdvice}` : `the endpoint answered ${status}`;
  return { outcome: "retry", status, error, retryAfter };
}
