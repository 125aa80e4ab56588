import { LRUCache } from "lru-cache";
import type { Clock } from "../../domain/clock.ts";
import { maxKeptBodyBytes, rawExchange } from "../../domain/delivery/exchange.ts";
import { parseSigningKey, signatureHeaders, type Hmac, type SigningKey } from "../../domain/delivery/webhook-signature.ts";
import { replayIn } from "../../domain/event/replay.ts";
import { SecretMask } from "../../domain/secrets/secret-mask.ts";
import { withoutCredentials } from "../../domain/secrets/url-credentials.ts";
import { traceContext } from "../../domain/traces.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Webhook } from "../routing/routes.ts";
import type { Attempted, ExternalDestination, ExternalOutcome } from "./destination.ts";
import type { FailingWebhooks } from "./failing-webhooks.ts";
import type { Poster, Secrets } from "./ports.ts";
import { outcomeOf } from "./post-outcome.ts";

export interface WebhookPorts {
  readonly poster: Poster;
  readonly secrets: Pick<Secrets, "open">;
  readonly hmac: Hmac;
  readonly clock: Clock;
}

type Failing = Pick<FailingWebhooks, "disabled" | "record">;

export class Webhooks {
  readonly #poster: SignedPoster;
  readonly #failing: Failing;

  constructor(ports: WebhookPorts, failing: Failing) {
    this.#poster = new SignedPoster(ports);
    this.#failing = failing;
  }

  at(webhook: Webhook, owner: string): ExternalDestination {
    return new WebhookDestination(webhook, owner, this.#poster, this.#failing);
  }
}

class WebhookDestination implements ExternalDestination {
  readonly kind = "webhook";
  readonly owner: string;
  readonly storesBeforeFirstAttempt = false;
  readonly #webhook: Webhook;
  readonly #poster: SignedPoster;
  readonly #failing: Failing;

  constructor(webhook: Webhook, owner: string, poster: SignedPoster, failing: Failing) {
    this.owner = owner;
    this.#webhook = webhook;
    this.#poster = poster;
    this.#failing = failing;
  }

  get circuit(): string {
    return this.#webhook.id;
  }

  /** A webhook that is disabled has no keys either, once the operator has seen it. Its owner needs the cause. */
  refusal(): string | undefined {
    const { id, keys } = this.#webhook;
    const disabled = this.#failing.disabled(this.#webhook);
    if (disabled !== undefined) return disabled.message;
    if (keys.length > 0) return undefined;
    return `webhook ${id} is not active: activate it, or fix what its conditions report, then retry this delivery`;
  }

  attempt(delivery: Delivery, traceparent: string | undefined): Promise<ExternalOutcome> {
    return this.#poster.post(delivery, this.#webhook, traceparent);
  }

  /** Only the host of the URL is an attribute: the rest may be a secret. */
  spanAttributes(): Readonly<Record<string, string>> {
    const { id, url } = this.#webhook;
    return { "http.request.method": "POST", "server.address": URL.parse(url)?.hostname ?? "", "webhook.id": id };
  }

  onAttempted(delivery: Delivery, attempted: Attempted, circuitOpenUntil: number | undefined): Promise<string | undefined> | undefined {
    return this.#failing.record(delivery, this.#webhook, attempted, circuitOpenUntil)?.then((disabled) => disabled?.message);
  }
}

/** Posts the emitted payload as it is, without envelope, with both signatures (Standard Webhooks, and the older header). */
class SignedPoster {
  readonly #ports: WebhookPorts;
  /** Opened signing keys by their sealed form. */
  readonly #keys = new LRUCache<string, SigningKey>({ max: 10_000 });
  /** Opened credentials, `user:password`, by their sealed form. */
  readonly #credentials = new LRUCache<string, string>({ max: 10_000 });
  /** Masks of the secrets of webhooks, by their sealed forms. Each has 16 KiB. */
  readonly #masks = new LRUCache<string, SecretMask>({ max: 500 });

  constructor(ports: WebhookPorts) {
    this.#ports = ports;
  }

  async post({ event }: Delivery, webhook: Webhook, traceparent: string | undefined): Promise<ExternalOutcome> {
    const { poster, clock, hmac } = this.#ports;
    const keys = this.#openedKeys(webhook.keys) ?? (await Promise.all(webhook.keys.map((sealed) => this.#openKey(sealed))));
    const credentials = webhook.basicAuth === undefined ? undefined : await this.#openCredentials(webhook.basicAuth);
    const signed = { id: event.emitId, emitter: event.source, at: clock.now(), body: event.payload };
    const headers = {
      "content-type": "application/json",
      ...replayHeader(event),
      ...traceContext({ traceparent, tracestate: event.tracestate }),
      ...(credentials === undefined ? {} : { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` }),
      ...signatureHeaders(signed, keys, hmac),
    };
    const result = await poster.post({ url: webhook.url, headers, body: event.payload, keepBytes: maxKeptBodyBytes });
    const received = result.outcome === "answered" ? result.received : undefined;
    const exchange = rawExchange({ url: withoutCredentials(webhook.url), headers }, received, () => {
      const mask = this.#maskOf(webhook, keys, credentials);
      return (text) => mask.text(text);
    });
    return { ...outcomeOf(result, "redirects are not followed, give the webhook the final address"), exchange };
  }

  /** For responses, which may repeat what they were sent. */
  #maskOf({ keys: sealed, basicAuth = "" }: Webhook, keys: readonly SigningKey[], credentials: string | undefined): SecretMask {
    const id = [basicAuth, ...sealed].join(" ");
    let mask = this.#masks.get(id);
    if (mask === undefined) {
      const ofKeys = keys.map(({ text }) => Buffer.from(text).toString("latin1"));
      mask = new SecretMask([...ofKeys, ...ofKeys.map((key) => key.replace("whsec_", "")), ...secretsOf(credentials)]);
      this.#masks.set(id, mask);
    }
    return new SecretMask(mask);
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

  async #openCredentials(sealed: string): Promise<string> {
    const cached = this.#credentials.get(sealed);
    if (cached !== undefined) return cached;
    const credentials = await this.#ports.secrets.open(sealed);
    this.#credentials.set(sealed, credentials);
    return credentials;
  }
}

/** `user:password`, the password, and the header's value; also as a binary body shows them, with one character for each byte. */
function secretsOf(credentials: string | undefined): readonly string[] {
  if (credentials === undefined) return [];
  const texts = [credentials, credentials.slice(credentials.indexOf(":") + 1)];
  return [...texts, ...texts.map((text) => Buffer.from(text).toString("latin1")), Buffer.from(credentials).toString("base64")];
}

/** Read from the emit id, because a redelivered dead letter has no other trace of its replay. */
function replayHeader({ emitId }: Delivery["event"]): Readonly<Record<string, string>> {
  const replay = replayIn(emitId);
  return replay === undefined ? {} : { "x-headwater-replay": replay };
}
