import { accountKind } from "../crds/account.ts";
import { appKind } from "../crds/app.ts";
import { autoSubscriptionKind } from "../crds/auto-subscription.ts";
import { componentKind } from "../crds/component.ts";
import { dataStoreKind } from "../crds/data-store.ts";
import { oauthClientKind } from "../crds/oauth-client.ts";
import { sourceKind } from "../crds/source.ts";
import { subscriptionKind } from "../crds/subscription.ts";
import { variableKind } from "../crds/variable.ts";
import { webhookKind } from "../crds/webhook.ts";
import { workflowKind } from "../crds/workflow.ts";
import type { Runtime } from "./controller/runtime.ts";

/** The cache of each kind. Runner pools have theirs in runner-pool/start.ts. */
export function openCaches(runtime: Pick<Runtime, "cache">) {
  return {
    components: runtime.cache(componentKind),
    sources: runtime.cache(sourceKind),
    subscriptions: runtime.cache(subscriptionKind),
    webhooks: runtime.cache(webhookKind),
    workflows: runtime.cache(workflowKind),
    accounts: runtime.cache(accountKind),
    variables: runtime.cache(variableKind),
    autoSubscriptions: runtime.cache(autoSubscriptionKind),
    apps: runtime.cache(appKind),
    dataStores: runtime.cache(dataStoreKind),
    oauthClients: runtime.cache(oauthClientKind),
  };
}
export type Caches = ReturnType<typeof openCaches>;
