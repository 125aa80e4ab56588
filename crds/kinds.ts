import { accountKind } from "./account.ts";
import { dataStoreKind } from "./data-store.ts";
import { appKind } from "./app.ts";
import { oauthClientKind } from "./oauth-client.ts";
import { autoSubscriptionKind } from "./auto-subscription.ts";
import { componentKind } from "./component.ts";
import { runnerPoolKind } from "./runner-pool.ts";
import { sourceKind } from "./source.ts";
import { subscriptionKind } from "./subscription.ts";
import { variableKind } from "./variable.ts";
import { webhookKind } from "./webhook.ts";
import { workflowKind } from "./workflow.ts";

/** Every kind of the group. */
export const kinds = [
  componentKind,
  sourceKind,
  subscriptionKind,
  autoSubscriptionKind,
  webhookKind,
  workflowKind,
  variableKind,
  dataStoreKind,
  appKind,
  oauthClientKind,
  accountKind,
  runnerPoolKind,
] as const;
