import { disabledOf, recordFailure, type DisabledWebhook, type WebhookFailures } from "../../domain/delivery/webhook-failures.ts";
import type { Attempted } from "../deliverers/webhook.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { DeliveryConfig, DeliveryPorts } from "../ports.ts";
import type { Webhook } from "../routing/routes.ts";

/**
 * Which endpoints fail, since when, and which are disabled for it. What is known in memory decides; it is written in the background, and
 * what other replicas have written is read every two seconds, but an endpoint is disabled only once that is written. The operator reads it there.
 */
export class FailingEndpoints {
  readonly #disableAfterMs: number;
  readonly #history: DeliveryPorts["history"];
  readonly #tell: (delivery: Delivery, disabled: DisabledWebhook) => Promise<void>;
  readonly #known = new Map<string, WebhookFailures>();
  /** Not written yet: what was known before, which is absent for an endpoint that did not fail. */
  readonly #changed = new Map<string, WebhookFailures | undefined>();

  /** `tell` is told which delivery had an endpoint disabled, before that is remembered: repeated after a crash, it must do no harm. */
  constructor(
    { disableAfterMs = Number.POSITIVE_INFINITY }: Pick<DeliveryConfig, "disableAfterMs">,
    { history }: Pick<DeliveryPorts, "history">,
    tell: (delivery: Delivery, disabled: DisabledWebhook) => Promise<void>,
  ) {
    this.#disableAfterMs = disableAfterMs;
    this.#history = history;
    this.#tell = tell;
  }

  /** Takes up what this and other replicas have written. What is seen in the meantime, and not written yet, is newer. */
  async load(): Promise<void> {
    const before = new Map(this.#known);
    const stored = new Map((await this.#history.listFailingWebhooks()).map((failures) => [failures.webhook, failures]));
    const isNewer = (webhook: string): boolean => this.#changed.has(webhook) || this.#known.get(webhook) !== before.get(webhook);
    for (const webhook of before.keys()) if (!stored.has(webhook) && !isNewer(webhook)) this.#known.delete(webhook);
    for (const [webhook, failures] of stored) if (!isNewer(webhook)) this.#known.set(webhook, failures);
  }

  /** Why nothing may be posted to it. */
  disabled(webhook: Webhook): DisabledWebhook | undefined {
    return disabledOf(this.#known.get(webhook.id), webhook);
  }

  /** After an attempt. @returns why nothing more may be posted; undefined at once where nothing fails, as almost everywhere */
  remember(delivery: Delivery, webhook: Webhook, attempted: Attempted): Promise<DisabledWebhook | undefined> | undefined {
    const known = this.#known.get(webhook.id);
    if (known === undefined && attempted.outcome.outcome === "delivered") return undefined;
    return this.#remember(delivery, webhook, attempted, known);
  }

  async #remember(delivery: Delivery, webhook: Webhook, { outcome, at }: Attempted, known: WebhookFailures | undefined) {
    const { id } = webhook;
    const before = disabledOf(known, webhook);
    // An attempt that was under way when another was answered 410 may still arrive.
    if (before !== undefined) return before;
    if (outcome.outcome === "delivered") {
      if (this.#known.delete(id)) this.#change(id, known);
      return undefined;
    }
    const failure = { at, isGone: outcome.outcome === "listener-gone", error: outcome.error };
    const failures = recordFailure(known, webhook, failure, this.#disableAfterMs);
    if (failures === known) return undefined;
    this.#known.set(id, failures);
    if (failures.disabled !== undefined) return this.#disable(delivery, webhook, failures, failures.disabled, known);
    this.#change(id, known);
    return undefined;
  }

  #change(webhook: string, before: WebhookFailures | undefined): void {
    if (!this.#changed.has(webhook)) this.#changed.set(webhook, before);
  }

  /** Writes what has changed since the last time. */
  async save(): Promise<void> {
    const changed = new Map(this.#changed);
    if (changed.size === 0) return;
    this.#changed.clear();
    try {
      const failing = [...changed.keys()].flatMap((webhook) => this.#known.get(webhook) ?? []);
      const recovered = [...changed].flatMap(([webhook, before]) => (this.#known.has(webhook) || before === undefined ? [] : [before]));
      await this.#history.saveWebhookFailures(failing, recovered);
    } catch (error) {
      for (const [webhook, before] of changed) this.#changed.set(webhook, before);
      throw error;
    }
  }

  /** What could not be told or written is not so: the delivery is settled again. One that another replica has disabled is told of once. */
  async #disable(
    delivery: Delivery,
    webhook: Webhook,
    failures: WebhookFailures,
    disabled: DisabledWebhook,
    before: WebhookFailures | undefined,
  ): Promise<DisabledWebhook> {
    const { id } = webhook;
    try {
      const stored = (await this.#history.listFailingWebhooks()).find((each) => each.webhook === id);
      const byOther = disabledOf(stored, webhook);
      if (stored !== undefined && byOther !== undefined) {
        this.#known.set(id, stored);
        this.#changed.delete(id);
        return byOther;
      }
      await this.#tell(delivery, disabled);
      await this.#history.saveWebhookFailures([failures], []);
      this.#changed.delete(id);
      return disabled;
    } catch (error) {
      if (before === undefined) this.#known.delete(id);
      else this.#known.set(id, before);
      throw error;
    }
  }
}
