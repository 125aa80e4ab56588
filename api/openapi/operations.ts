import type { Operation, Operations } from "./operation.ts";
import { administeredOrganizations, administeredPlans, administeredUsers } from "./operations/admin.ts";
import { accountOperations } from "./operations/accounts.ts";
import { componentOperations } from "./operations/components.ts";
import { deliveryOperations } from "./operations/deliveries.ts";
import { historyOperations, streamOperations } from "./operations/history.ts";
import { routingOperations } from "./operations/routing.ts";
import { sourceOperations } from "./operations/sources.ts";
import { userOperations } from "./operations/users.ts";
import type { Route } from "../http/route-table.ts";

type Groups = Readonly<Record<string, Operations>>;

const groups: Groups = {
  "You and others": userOperations,
  Components: componentOperations,
  Sources: sourceOperations,
  "Runs and events": { ...historyOperations, ...streamOperations },
  Accounts: accountOperations,
  "Webhooks and subscriptions": routingOperations,
  Deliveries: deliveryOperations,
};

/** Those that the table of routes serves. */
export type TabledOperations = typeof userOperations &
  typeof componentOperations &
  typeof sourceOperations &
  typeof historyOperations &
  typeof accountOperations &
  typeof routingOperations &
  typeof deliveryOperations;

export interface Described extends Operation {
  /** Under which the document lists it. */
  readonly tag: string;
}

export type OperationMap = ReadonlyMap<string, Described>;

const mapOf = (all: Groups): OperationMap =>
  new Map(
    Object.entries(all).flatMap(([tag, group]) =>
      Object.entries(group).flatMap(([route, operation]) => (operation === undefined ? [] : [[route, { ...operation, tag }] as const])),
    ),
  );

/** All operations, by `METHOD /path` as the route table has it. A new one is a few lines in the file of its group. */
export const operations = mapOf(groups);

/** Those of whoever runs the installation. */
export const administration = mapOf({
  Users: administeredUsers,
  Organizations: administeredOrganizations,
  Plans: administeredPlans,
});

/** Paths that are another way to write one that is described. */
const aliases = [/^\/workspaces\//, /%24/];

/** What of these routes the document tells of. */
export function describedRoutes(routes: readonly Route[]): readonly Route[] {
  return routes.filter(({ path }) => !aliases.some((alias) => alias.test(path)));
}
