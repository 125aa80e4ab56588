import { LRUCache } from "lru-cache";
import type { RouteListener } from "../../domain/source/deployment.ts";
import { replayIn } from "../../domain/event/replay.ts";
import { parseSigningKey, signatureHeaders, type SigningKey } from "../../domain/delivery/webhook-signature.ts";
import { traceContext } from "../../domain/traces.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { DeliveryPorts } from "../ports.ts";
import type { PostResult } from "../attempts/ports.ts";

/** What came of an attempt. `listener-gone`: the endpoint says it will never listen again (410), or it is disabled, so nobody asks again. */
export type Outcome =
  | { readonly outcome: "delivered"; readonly status: number }
  | {
      readonly outcome: "retry";
      readonly status: number | null;
      readonly error: string;
      readonly retryAfter: string | undefined;
    }
  | { readonly outcome: "listener-gone"; readonly status: number | null; readonly error: string };

/** What came of an attempt, and when it was. */
export interface Attempted {
  readonly outcome: Outcome;
  /** Epoch ms. */
  readonly at: number;
  readonly durationMs: number;
}

type Webhook = Extract<RouteListener, { kind: "webhook" }>;

/** Posts an event as it was emitted, without envelope, with both signatures (Standard Webhooks, and the older header). */
export class WebhookDeliverer {
  readonly #ports: Pick<DeliveryPorts, "poster" | "secrets" | "hmac" | "clock">;
  /** Opened signing keys by their sealed form. */
  readonly #keys = new LRUCache<string, SigningKey>({ max: 10_000 });
  /** Headers of authenticated webhooks by their sealed credentials. */
  readonly #authorizations = new LRUCache<string, string>({ max: 10_000 });

  constructor(ports: Pick<DeliveryPorts, "poster" | "secrets" | "hmac" | "clock">) {
    this.#ports = ports;
  }

  /** @param traceparent what the receiver's work follows from */
  async attempt(delivery: Delivery, webhook: Webhook, traceparent: string | undefined): Promise<Outcome> {
    const { event } = delivery;
    const keys = this.#opened(webhook.keys) ?? (await Promise.all(webhook.keys.map((sealed) => this.#open(sealed))));
    const headers = signatureHeaders(
      { id: event.emitId, emitter: event.source, at: this.#ports.clock.now(), body: event.payload },
      keys,
      this.#ports.hmac,
    );
    const authorization = webhook.basicAuth === undefined ? {} : { authorization: await this.#authorization(webhook.basicAuth) };
    return judge(
      await this.#ports.poster.post({
        url: webhook.url,
        headers: {
          "content-type": "application/json",
          ...replayHeader(event),
          ...traceContext({ traceparent, tracestate: event.tracestate }),
          ...authorization,
          ...headers,
        },
        body: event.payload,
      }),
    );
  }

  /** Undefined when one of them has to be opened first. */
  #opened(sealed: readonly string[]): readonly SigningKey[] | undefined {
    const keys: SigningKey[] = [];
    for (const each of sealed) {
      const key = this.#keys.get(each);
      if (key === undefined) return undefined;
      keys.push(key);
    }
    return keys;
  }

  async #authorization(sealed: string): Promise<string> {
    const known = this.#authorizations.get(sealed);
    if (known !== undefined) return known;
    const header = `Basic ${Buffer.from(await this.#ports.secrets.open(sealed)).toString("base64")}`;
    this.#authorizations.set(sealed, header);
    return header;
  }

  async #open(sealed: string): Promise<SigningKey> {
    const key = parseSigningKey(await this.#ports.secrets.open(sealed));
    this.#keys.set(sealed, key);
    return key;
  }
}

/** Of a dead letter that is delivered again nothing else tells. */
function replayHeader({ emitId }: Delivery["event"]): Readonly<Record<string, string>> {
  const replay = replayIn(emitId);
  return replay === undefined ? {} : { "x-headwater-replay": replay };
}

function judge(result: PostResult): Outcome {
  if (result.outcome === "unreachable")
    return { outcome: "retry", status: null, error: `${result.code}: ${result.message}`, retryAfter: undefined };
  const { status, retryAfter } = result;
  if (status >= 200 && status < 300) return { outcome: "delivered", status };
  if (status === 410) return { outcome: "listener-gone", status, error: "the endpoint answered 410 Gone" };
  const error =
    status >= 300 && status < 400
      ? `the endpoint answered ${status}: redirects are not followed, give the webhook the final address`
      : `the endpoint answered ${status}`;
  return { outcome: "retry", status, error, retryAfter };
}
