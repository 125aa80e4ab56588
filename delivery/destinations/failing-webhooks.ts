import { disabledOf, recordFailure, type DisabledWebhook, type WebhookFailures } from "../../domain/delivery/webhook-failures.ts";
import type { Log } from "../../domain/log.ts";
import { pause } from "../../domain/retry.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Webhook } from "../routing/routes.ts";
import type { Attempted } from "./destination.ts";
import type { WebhookFailureStore } from "./ports.ts";

const loadIntervalMs = 2_000;

interface Ports {
  readonly history: WebhookFailureStore;
  readonly log: Pick<Log, "warn">;
}

/**
 * Which webhooks fail, since when, and which are disabled for it. Memory decides. It is saved in the background, and the records of
 * other replicas are loaded every two seconds. A webhook is disabled only once that is stored, because the operator reads it there.
 */
export class FailingWebhooks {
  readonly #disableAfterMs: number;
  readonly #ports: Ports;
  readonly #onDisable: (delivery: Delivery, disabled: DisabledWebhook) => Promise<void>;
  readonly #known = new Map<string, WebhookFailures>();
  /** Unsaved changes, with the record before the change; undefined for a webhook that did not fail. */
  readonly #changed = new Map<string, WebhookFailures | undefined>();
  /** The webhooks of each write to Postgres that has not ended. */
  readonly #writes = new Set<readonly string[]>();

  /** @param onDisable called before the record is stored, with the delivery that disabled the webhook; must be idempotent */
  constructor(
    { disableAfterMs = Number.POSITIVE_INFINITY }: { readonly disableAfterMs?: number },
    ports: Ports,
    onDisable: (delivery: Delivery, disabled: DisabledWebhook) => Promise<void>,
  ) {
    this.#disableAfterMs = disableAfterMs;
    this.#ports = ports;
    this.#onDisable = onDisable;
  }

  /** Loads the stored records now, and then every two seconds. Without Postgres, no webhook counts as failing until it answers. */
  async follow(signal: AbortSignal): Promise<void> {
    let isLoaded = await this.#tryLoad(true);
    const loadAgain = async (): Promise<void> => {
      for (;;) {
        await pause(loadIntervalMs, signal);
        if (signal.aborted) return;
        isLoaded = await this.#tryLoad(isLoaded);
      }
    };
    void loadAgain(); // Never rejects, and ends with the signal.
  }

  async #tryLoad(wasLoaded: boolean): Promise<boolean> {
    try {
      await this.#load();
      return true;
    } catch (error) {
      if (wasLoaded) this.#ports.log.warn({ op: "webhook.load", err: error }, "failures of webhooks cannot be loaded, trying again");
      return false;
    }
  }

  /** Takes over what all replicas have stored. Changes that this replica has not stored before, or has seen in the meantime, are newer. */
  async #load(): Promise<void> {
    const before = new Map(this.#known);
    const unstored = new Set([...this.#changed.keys(), ...[...this.#writes].flat()]);
    const stored = new Map((await this.#ports.history.listFailingWebhooks()).map((failures) => [failures.webhook, failures]));
    const isNewer = (webhook: string): boolean =>
      unstored.has(webhook) || this.#changed.has(webhook) || this.#known.get(webhook) !== before.get(webhook);
    for (const webhook of before.keys()) if (!stored.has(webhook) && !isNewer(webhook)) this.#known.delete(webhook);
    for (const [webhook, failures] of stored) if (!isNewer(webhook)) this.#known.set(webhook, failures);
  }

  /** Why nothing may be posted to the webhook; undefined if it is not disabled. */
  disabled(webhook: Webhook): DisabledWebhook | undefined {
    return disabledOf(this.#known.get(webhook.id), webhook);
  }

  /**
   * Records the outcome of an attempt. Synchronous for a success of a webhook that does not fail, because nearly all attempts are.
   * @param circuitOpenUntil epoch ms; undefined while its circuit is closed
   * @returns why nothing more may be posted
   */
  record(
    delivery: Delivery,
    webhook: Webhook,
    attempted: Attempted,
    circuitOpenUntil?: number,
  ): Promise<DisabledWebhook | undefined> | undefined {
    const known = this.#known.get(webhook.id);
    if (known === undefined && attempted.outcome.outcome === "delivered") return undefined;
    return this.#record(delivery, webhook, { ...attempted, circuitOpenUntil }, known);
  }

  async #record(
    delivery: Delivery,
    webhook: Webhook,
    { outcome, at, circuitOpenUntil }: Attempted & { readonly circuitOpenUntil: number | undefined },
    known: WebhookFailures | undefined,
  ): Promise<DisabledWebhook | undefined> {
    const { id } = webhook;
    const before = disabledOf(known, webhook);
    // An attempt that was in flight when another one received 410 may still succeed.
    if (before !== undefined) return before;
    if (outcome.outcome === "delivered") {
      if (this.#known.delete(id)) this.#markChanged(id, known);
      return undefined;
    }
    const failure = { at, isGone: outcome.outcome === "listener_gone", error: outcome.error, circuitOpenUntil };
    const failures = recordFailure(known, webhook, failure, this.#disableAfterMs);
    if (failures === known) return undefined;
    this.#known.set(id, failures);
    if (failures.disabled !== undefined) return this.#disable(delivery, webhook, failures, failures.disabled, known);
    this.#markChanged(id, known);
    return undefined;
  }

  #markChanged(webhook: string, before: WebhookFailures | undefined): void {
    if (!this.#changed.has(webhook)) this.#changed.set(webhook, before);
  }

  /** Stores what has changed since the last call. */
  async save(): Promise<void> {
    const changed = new Map(this.#changed);
    if (changed.size === 0) return;
    this.#changed.clear();
    const write = [...changed.keys()];
    this.#writes.add(write);
    try {
      const failing = [...changed.keys()].flatMap((webhook) => this.#known.get(webhook) ?? []);
      const recovered = [...changed].flatMap(([webhook, before]) => (this.#known.has(webhook) || before === undefined ? [] : [before]));
      await this.#ports.history.saveWebhookFailures(failing, recovered);
    } catch (error) {
      for (const [webhook, before] of changed) this.#changed.set(webhook, before);
      throw error;
    } finally {
      this.#writes.delete(write);
    }
  }

  /** Restores the previous record if reporting or storing fails: the delivery is then settled again. Reports once over all replicas. */
  async #disable(
    delivery: Delivery,
    webhook: Webhook,
    failures: WebhookFailures,
    disabled: DisabledWebhook,
    before: WebhookFailures | undefined,
  ): Promise<DisabledWebhook> {
    const { id } = webhook;
    const { history } = this.#ports;
    const write = [id];
    this.#writes.add(write);
    try {
      const stored = (await history.listFailingWebhooks()).find((each) => each.webhook === id);
      const disabledByOther = disabledOf(stored, webhook);
      if (stored !== undefined && disabledByOther !== undefined) {
        this.#known.set(id, stored);
        this.#changed.delete(id);
        return disabledByOther;
      }
      await this.#onDisable(delivery, disabled);
      await history.saveWebhookFailures([failures], []);
      this.#changed.delete(id);
      return disabled;
    } catch (error) {
      if (before === undefined) this.#known.delete(id);
      else this.#known.set(id, before);
      throw error;
    } finally {
      this.#writes.delete(write);
    }
  }
}
