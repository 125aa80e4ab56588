import { disabledOf, rememberFailure, type DisabledEndpoint, type EndpointFailures } from "../domain/endpoint-failures.ts";
import type { Attempted } from "./deliverers/webhook.ts";
import type { Delivery } from "./delivery.ts";
import type { DeliveryConfig, DeliveryPorts } from "./ports.ts";
import type { Webhook } from "./routes.ts";

/**
 * Which endpoints fail, since when, and which are disabled for it. What is known in memory decides; it is written behind the
 * deliveries' back and read at the start, but an endpoint is disabled only once that is written. The operator reads it there.
 */
export class FailingEndpoints {
  readonly #disableAfterMs: number;
  readonly #history: DeliveryPorts["history"];
  readonly #tell: (delivery: Delivery, disabled: DisabledEndpoint) => Promise<void>;
  readonly #known = new Map<string, EndpointFailures>();
  readonly #changed = new Set<string>();

  /** `tell` is told which delivery had an endpoint disabled, before that is remembered: repeated after a crash, it must do no harm. */
  constructor(
    { disableAfterMs = Number.POSITIVE_INFINITY }: Pick<DeliveryConfig, "disableAfterMs">,
    { history }: Pick<DeliveryPorts, "history">,
    tell: (delivery: Delivery, disabled: DisabledEndpoint) => Promise<void>,
  ) {
    this.#disableAfterMs = disableAfterMs;
    this.#history = history;
    this.#tell = tell;
  }

  /** What was seen in the meantime is newer. */
  async load(): Promise<void> {
    for (const failures of await this.#history.failingEndpoints())
      if (!this.#known.has(failures.webhook)) this.#known.set(failures.webhook, failures);
  }

  /** Why nothing may be posted to it. */
  disabled(webhook: Webhook): DisabledEndpoint | undefined {
    return disabledOf(this.#known.get(webhook.id), webhook);
  }

  /** After an attempt. @returns why nothing more may be posted; undefined at once where nothing fails, as almost everywhere */
  remember(delivery: Delivery, webhook: Webhook, attempted: Attempted): Promise<DisabledEndpoint | undefined> | undefined {
    const known = this.#known.get(webhook.id);
    if (known === undefined && attempted.outcome.outcome === "delivered") return undefined;
    return this.#remember(delivery, webhook, attempted, known);
  }

  async #remember(delivery: Delivery, webhook: Webhook, { outcome, at }: Attempted, known: EndpointFailures | undefined) {
    const { id } = webhook;
    const before = disabledOf(known, webhook);
    // An attempt that was under way when another was answered 410 may still arrive.
    if (before !== undefined) return before;
    if (outcome.outcome === "delivered") {
      if (this.#known.delete(id)) this.#changed.add(id);
      return undefined;
    }
    const failure = { at, isGone: outcome.outcome === "listener-gone", error: outcome.error };
    const failures = rememberFailure(known, webhook, failure, this.#disableAfterMs);
    if (failures === known) return undefined;
    this.#known.set(id, failures);
    if (failures.disabled !== undefined) await this.#disable(delivery, failures, failures.disabled, known);
    else this.#changed.add(id);
    return failures.disabled;
  }

  /** Writes what has changed since the last time. */
  async save(): Promise<void> {
    const changed = [...this.#changed];
    if (changed.length === 0) return;
    this.#changed.clear();
    try {
      const failing = changed.flatMap((webhook) => this.#known.get(webhook) ?? []);
      await this.#history.saveEndpoints(
        failing,
        changed.filter((webhook) => !this.#known.has(webhook)),
      );
    } catch (error) {
      for (const webhook of changed) this.#changed.add(webhook);
      throw error;
    }
  }

  /** What could not be told or written is not so: the delivery is settled again. */
  async #disable(delivery: Delivery, failures: EndpointFailures, disabled: DisabledEndpoint, before: EndpointFailures | undefined) {
    const { webhook } = failures;
    try {
      await this.#tell(delivery, disabled);
      await this.#history.saveEndpoints([failures], []);
      this.#changed.delete(webhook);
    } catch (error) {
      if (before === undefined) this.#known.delete(webhook);
      else this.#known.set(webhook, before);
      throw error;
    }
  }
}
