import { addressRules } from "./address-rules.ts";
import { clientEventRules } from "./client-event-rules.ts";
import { clientRules } from "./client-rules.ts";
import { componentRules } from "./component-rules.ts";
import { eventRules } from "./event-rules.ts";
import { healthRules } from "./health-rules.ts";
import { keptWorkRules } from "./kept-work-rules.ts";
import { organizationRules } from "./organization-rules.ts";
import { ownRules } from "./own-rules.ts";
import { registryRules } from "./registry-rules.ts";
import { routingRules } from "./routing-rules.ts";
import type { Group, Rule } from "./rule.ts";
import { sourceRules } from "./source-rules.ts";
import { workflowRules } from "./workflow-rules.ts";

/** All rules in the order in which they run: later rules use resources of earlier ones. */
export const rules: Readonly<Record<Group, readonly Rule[]>> = {
  specification: [...componentRules, ...sourceRules, ...eventRules, ...routingRules],
  clients: [...addressRules, ...clientEventRules, ...clientRules],
  headwater: [...ownRules, ...organizationRules, ...healthRules, ...keptWorkRules, ...registryRules, ...workflowRules],
};
