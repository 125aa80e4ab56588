import { accountOperations } from "./accounts/operations.ts";
import { appOperations } from "./apps/operations.ts";
import { auditOperations } from "./audit/operations.ts";
import { componentOperations } from "./components/operations.ts";
import {
  componentConfigurationOperations,
  sourceConfigurationOperations,
  stepConfigurationOperations,
} from "./configuration/operations.ts";
import { connectorOperations } from "./connectors/operations.ts";
import { connectionOperations } from "./connections/operations.ts";
import type { ApiOperation } from "./context.ts";
import { dataStoreOperations } from "./data-stores/operations.ts";
import { deliveryOperations } from "./deliveries/operations.ts";
import { eventOperations } from "./events/operations.ts";
import { streamOperations } from "./events/stream-operations.ts";
import { metricsOperations } from "./metrics/operations.ts";
import { namespaceOperations } from "./namespaces/operations.ts";
import { keyOperations } from "./keys/operations.ts";
import { oauthClientOperations } from "./oauth-clients/operations.ts";
import { organizationOperations } from "./organizations/operations.ts";
import { userOperations } from "./owners/operations.ts";
import { packageOperations } from "./packages/operations.ts";
import { replayOperations } from "./replays/operations.ts";
import { debugOperations } from "./runs/debug-operations.ts";
import { runOperations } from "./runs/operations.ts";
import { searchOperations } from "./search/operations.ts";
import { searchStreamOperations } from "./search/stream-operations.ts";
import { sourceOperations } from "./sources/operations.ts";
import { sourceTestOperations } from "./runs/test-operations.ts";
import { subscriptionOperations } from "./subscriptions/operations.ts";
import { traceOperations } from "./traces/operations.ts";
import { variableOperations } from "./variables/operations.ts";
import { webhookOperations } from "./webhooks/operations.ts";
import { workflowOperations } from "./workflows/operations.ts";
import { workflowEventOperations } from "./workflows/runs/event-operations.ts";
import { workflowRunOperations } from "./workflows/runs/operations.ts";
import { workflowRunControlOperations } from "./workflows/runs/control-operations.ts";
import { backfillOperations } from "./workflows/backfill-operations.ts";
import { repeatOperations } from "./workflows/runs/repeat-operations.ts";
import { workflowRunNowOperations } from "./workflows/runs/run-now-operations.ts";
import { workflowTestOperations } from "./workflows/test-operations.ts";

/** All operations of `/v1`, by the tag under which the document lists them. */
export const operations: Readonly<Record<string, readonly ApiOperation[]>> = {
  "Users and organizations": [...userOperations, ...keyOperations, ...organizationOperations, ...namespaceOperations, ...auditOperations],
  Components: [...componentOperations, ...componentConfigurationOperations, ...packageOperations, ...connectorOperations],
  Sources: [...sourceTestOperations, ...sourceOperations, ...sourceConfigurationOperations],
  "Runs and events": [
    ...searchOperations,
    ...searchStreamOperations,
    ...traceOperations,
    ...runOperations,
    ...debugOperations,
    ...eventOperations,
    ...replayOperations,
    ...streamOperations,
    ...workflowOperations,
    ...repeatOperations, // Before the run of any id.
    ...workflowRunOperations,
    ...workflowRunNowOperations,
    ...backfillOperations,
    ...workflowRunControlOperations,
    ...workflowEventOperations,
    ...workflowTestOperations,
    ...stepConfigurationOperations,
  ],
  Metrics: metricsOperations,
  "Apps and accounts": [...appOperations, ...oauthClientOperations, ...connectionOperations, ...accountOperations],
  Variables: variableOperations,
  "Data stores": dataStoreOperations,
  "Webhooks and subscriptions": [...webhookOperations, ...subscriptionOperations],
  Deliveries: deliveryOperations,
};
