import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { systemClock } from "../../domain/clock.ts";
import type { Leadership } from "../../operator/controller/leadership.ts";
import { Mirror } from "../../operator/mirror/mirror.ts";
import type { OperatorRuntime } from "../../operator/start.ts";
import { KubernetesEvents } from "../../platform/kubernetes/events.ts";
import { Election } from "../../platform/kubernetes/lease.ts";
import { kubernetesLeases } from "../../platform/kubernetes/leases.ts";
import { startOwnerRights } from "../../platform/kubernetes/owners/owner-rights.ts";
import { processMetrics } from "../../platform/telemetry/metrics.ts";
import { createMirrorMetrics } from "../../platform/telemetry/mirror-metrics.ts";
import type { RoleContext } from "../context.ts";
import type { Resources } from "../resources.ts";
import { aborted } from "../../domain/retry.ts";

/** Names in the chart: of the Lease, and of the ServiceAccounts with rights to owners' Secrets. */
const operatorName = "headwater-operator";
const apiName = "headwater-api";
const backupName = "headwater-backup";
/** ClusterRoles of the chart. */
const [secretsRole, apiRole, backupRole] = ["headwater-owner-secrets", "headwater-owner-secrets-api", "headwater-owner-backup"];

export interface OperatorInCluster {
  readonly runtime: OperatorRuntime;
  readonly events: KubernetesEvents;
}

/** What the operator does only in a cluster: one of several leads; the leader also mirrors resources, and maintains rights in namespaces. */
export function operatorInCluster(
  context: RoleContext,
  { kubernetes, namespace, store, owners, mirror: rows }: NonNullable<Resources["inCluster"]>,
): OperatorInCluster {
  const { configuration, logger } = context;
  const instance = configuration.podName ?? hostname();
  const warn = (op: string, what: string) => (error: unknown) => logger.warn({ op, err: error }, what);
  const mirror = new Mirror({ store, rows, clock: systemClock, log: logger });
  const election = new Election({
    leases: kubernetesLeases(kubernetes, { namespace, name: operatorName }),
    identity: `${instance}_${randomUUID()}`,
    onError: warn("lease.renew", "the lease cannot be read or written, trying again"),
    onChange: (leads) => logger.info({ op: "operator.lead", leads }, leads ? "this operator leads" : "this operator no longer leads"),
    onStuck: () => {
      logger.fatal({ op: "operator.lead" }, "work as leader did not end in time: this process exits, so that another operator can lead");
      process.exit(1);
    },
  });
  const maintainRights = async (signal: AbortSignal): Promise<void> => {
    const rights = startOwnerRights(kubernetes, owners, {
      bindings: {
        [operatorName]: { namespace, name: operatorName, clusterRole: secretsRole },
        [apiRole]: { namespace, name: apiName, clusterRole: apiRole },
        ...(configuration.hasBackups ? { [backupName]: { namespace, name: backupName, clusterRole: backupRole } } : {}),
      },
      former: { [apiName]: secretsRole },
      onError: warn("rights.bind", "the rights in a namespace cannot be updated, trying again"),
    });
    await aborted(signal);
    await rights.stop();
  };
  createMirrorMetrics(processMetrics(), mirror);
  const events = new KubernetesEvents(kubernetes, { instance, onError: warn("event.record", "a Kubernetes Event is lost") });
  return {
    events,
    runtime: {
      leadership: alongside(election, [(signal) => mirror.lead(signal), maintainRights]),
      onCache: (informer) => mirror.watch(informer),
      onOwnerChange: (changed) => void owners.onChange(changed),
    },
  };
}

/** Runs other work beside the reconcilers while this operator leads. */
function alongside(leadership: Leadership, others: readonly ((signal: AbortSignal) => Promise<void>)[]): Leadership {
  return {
    get leads() {
      return leadership.leads;
    },
    campaign: (lead) =>
      leadership.campaign(async (signal) => {
        // All must end before another operator may lead, even if one fails.
        const ended = await Promise.allSettled([lead(signal), ...others.map((other) => other(signal))]);
        const failed = ended.find(({ status }) => status === "rejected");
        if (failed?.status === "rejected") throw failed.reason;
      }),
  };
}
