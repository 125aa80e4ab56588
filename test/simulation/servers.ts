import type { OrderedAccess } from "../../delivery/ordered/ports.ts";
import type { Deployment, Route } from "../../domain/source/deployment.ts";
import { versionName, type WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { DeliveriesModel } from "./deliveries-model.ts";
import { GroupModel } from "./group-model.ts";
import { HistoryModel } from "./history-model.ts";
import { InvocationsModel } from "./invocations-model.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import { ReceiversModel } from "./receivers-model.ts";
import { RunsModel } from "./runs-model.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What outlives the processes of Headwater: NATS, Postgres, and the receivers of webhooks. */
export interface Servers {
  readonly invocations: InvocationsModel;
  readonly runs: RunsModel;
  readonly deliveries: DeliveriesModel;
  readonly runners: GroupModel;
  readonly replicas: GroupModel;
  readonly history: HistoryModel;
  readonly receivers: ReceiversModel;
  /** By name of the source or workflow, or of a version of a workflow. */
  readonly deployments: ReadonlyMap<string, Deployment | WorkflowDeployment>;
  readonly routes: readonly Route[];
  /** Replicas that serve the ordered queues of a partition: two for a moment, when it moves. */
  readonly orderedQueues: ServingReplica[];
}

export interface ServingReplica {
  readonly partition: number;
  readonly process: SimulatedProcess;
  readonly access: OrderedAccess;
}

export function createServers(
  time: VirtualTime,
  random: Random,
  given: { readonly deployments: readonly Deployment[]; readonly workflow: WorkflowDeployment; readonly routes: readonly Route[] },
): Servers {
  const { workflow } = given;
  return {
    invocations: new InvocationsModel(time),
    runs: new RunsModel(time),
    deliveries: new DeliveriesModel(time, random.fork()),
    runners: new GroupModel(time),
    replicas: new GroupModel(time),
    history: new HistoryModel(),
    receivers: new ReceiversModel(time, random.fork()),
    deployments: new Map<string, Deployment | WorkflowDeployment>([
      ...given.deployments.map((deployment) => [deployment.source, deployment] as const),
      [workflow.workflow, workflow],
      [versionName(workflow.workflow, workflow.id), workflow],
    ]),
    routes: given.routes,
    orderedQueues: [],
  };
}
