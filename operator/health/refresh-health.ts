import { setTimeout as sleep } from "node:timers/promises";
import type { Kind, Resource } from "../../crds/resource.ts";
import { enabledAt, webhookHealthOf } from "../../crds/webhook-health.ts";
import { webhookKind, type WebhookResource } from "../../crds/webhook.ts";
import { workflowHealthOf } from "../../crds/workflow-health.ts";
import { workflowKind, type WorkflowResource } from "../../crds/workflow.ts";
import type { WebhookOutcomes } from "../../domain/delivery/webhook-health.ts";
import { successRate, type RecentOutcomes } from "../../domain/outcomes.ts";
import { sameStatus } from "../controller/conditions.ts";
import type { OperatorPorts } from "../ports.ts";
import { withFields } from "../controller/status.ts";
import { statusHealth } from "./status-health.ts";
import { batchSize, writeIntervalMs, writeRefreshed } from "./write-refreshed.ts";

/** A new state shows in the status within this time, if few change at once. */
const intervalMs = 15_000;
/** A state that lasts is written again after this time: its message counts. */
const rewriteMs = 5 * 60_000;

type Ports = Pick<OperatorPorts, "store" | "outcomes" | "clock">;

export interface HealthCaches {
  webhooks(): Iterable<WebhookResource>;
  workflows(): Iterable<WorkflowResource>;
}

/** Keeps the health in the status of webhooks and workflows current. Those without new attempts or runs are not read, and not written. */
export function healthReconciler(ports: Ports, caches: HealthCaches) {
  const [webhooks, workflows] = [new Refresh(webhooksIn(ports), ports), new Refresh(workflowsIn(ports), ports)];
  return async (_key: string, signal: AbortSignal): Promise<number> => {
    await webhooks.run(caches.webhooks(), signal);
    await workflows.run(caches.workflows(), signal);
    return intervalMs;
  };
}

interface HealthStatus {
  readonly id?: string | undefined;
  readonly state?: string | undefined;
  readonly problem?: { readonly code: string } | undefined;
}

interface Asked<R> {
  readonly id: string;
  readonly resource: R;
  /** Position of the last outcome that was seen; undefined: the state may change without another one. */
  readonly known: number | undefined;
}

/** One kind with its outcomes and its health. */
interface Refreshed<S, T extends HealthStatus, O extends RecentOutcomes> {
  readonly kind: Kind<S, T>;
  readonly read: (asked: readonly Asked<Resource<S, T>>[], now: number) => Promise<ReadonlyMap<string, O>>;
  readonly healthOf: (resource: Resource<S, T>, outcomes: O | undefined, now: number) => Partial<T>;
}

const knownOf = ({ known }: Pick<Asked<unknown>, "known">) => (known === undefined ? {} : { known });

const webhooksIn = ({ outcomes }: Ports): Refreshed<WebhookResource["spec"], WebhookResource["status"], WebhookOutcomes> => ({
  kind: webhookKind,
  read: (asked, now) =>
    outcomes.webhooks(
      asked.map((each) => ({ webhook: each.id, since: enabledAt(each.resource), ...knownOf(each) })),
      now,
    ),
  healthOf: (webhook, recent, now) => ({ ...statusHealth(webhookHealthOf(webhook, recent, now)), successRate: successRate(recent) }),
});

const workflowsIn = ({ outcomes }: Ports): Refreshed<WorkflowResource["spec"], WorkflowResource["status"], RecentOutcomes> => ({
  kind: workflowKind,
  read: (asked, now) =>
    outcomes.workflows(
      asked.map((each) => ({ workflow: each.id, deployment: each.resource.status.deployment ?? "", ...knownOf(each) })),
      now,
    ),
  healthOf: (workflow, recent) => ({ ...statusHealth(workflowHealthOf(workflow, recent)), successRate: successRate(recent) }),
});

class Refresh<S, T extends HealthStatus, O extends RecentOutcomes> {
  readonly #kind: Refreshed<S, T, O>;
  readonly #ports: Ports;
  /** Position of the last outcome that was seen, by id. */
  #seen = new Map<string, number>();
  /** Epoch ms of the last write, by id, of those that are not well. */
  #written = new Map<string, number>();

  constructor(kind: Refreshed<S, T, O>, ports: Ports) {
    this.#kind = kind;
    this.#ports = ports;
  }

  async run(resources: Iterable<Resource<S, T>>, signal: AbortSignal): Promise<void> {
    const asked = [...resources].flatMap((resource): Asked<Resource<S, T>>[] => {
      const { id, state } = resource.status;
      if (id === undefined || resource.invalid !== undefined || resource.metadata.deletionTimestamp !== undefined) return [];
      return [{ id, resource, known: isWell(state) ? this.#seen.get(id) : undefined }];
    });
    this.#seen = only(this.#seen, asked);
    this.#written = only(this.#written, asked);
    for (let from = 0; from < asked.length; from += batchSize) await this.#refresh(asked.slice(from, from + batchSize), signal);
  }

  async #refresh(batch: readonly Asked<Resource<S, T>>[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const now = this.#ports.clock.now();
    const outcomes = await this.#kind.read(batch, now);
    for (const { id, resource, known } of batch) {
      const recent = outcomes.get(id);
      if (recent === undefined && known !== undefined) continue;
      if (recent !== undefined) this.#seen.set(id, recent.position);
      if (!this.#mustWrite(id, resource, this.#kind.healthOf(resource, recent, now), now)) continue;
      const statusOf = (current: Resource<S, T>): T => withFields(current.status, this.#kind.healthOf(current, recent, now));
      if (await writeRefreshed(this.#ports.store, this.#kind.kind, resource, statusOf)) this.#written.set(id, now);
      await sleep(writeIntervalMs, undefined, { signal });
    }
  }

  #mustWrite(id: string, { status }: Resource<S, T>, health: Partial<T>, now: number): boolean {
    if (status.state !== health.state || status.problem?.code !== health.problem?.code) return true;
    const isOld = now - (this.#written.get(id) ?? 0) >= rewriteMs;
    return !isWell(status.state) && isOld && !sameStatus(withFields(status, health), status);
  }
}

/** Nothing changes it but another outcome, or another spec. */
const isWell = (state: string | undefined): boolean => state === "active" || state === "paused";

function only(known: ReadonlyMap<string, number>, asked: readonly { readonly id: string }[]): Map<string, number> {
  return new Map(asked.flatMap(({ id }) => (known.has(id) ? [[id, known.get(id) ?? 0] as const] : [])));
}
