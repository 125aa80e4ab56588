import type { Operation, Operations } from "./operation.ts";
import { administeredOrganizations, administeredPlans, administeredUsers } from "./operations/admin.ts";
import { accountOperations } from "./operations/accounts.ts";
import { componentOperations } from "./operations/components.ts";
import { deliveryOperations } from "./operations/deliveries.ts";
import { historyOperations, streamOperations } from "./operations/history.ts";
import { routingOperations } from "./operations/routing.ts";
import { sourceOperations } from "./operations/sources.ts";
import { tokenOperations, userOperations } from "./operations/users.ts";
import type { Method, Route } from "../http/routing/route-table.ts";
import { aliasesOf } from "../http/routing/aliases.ts";

type Groups = Readonly<Record<string, Operations>>;

const groups: Groups = {
  "You and others": { ...userOperations, ...tokenOperations },
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
  /** `METHOD /path` of the route that it is another address of. */
  readonly aliasOf?: string;
}

export type OperationMap = ReadonlyMap<string, Described>;

const mapOf = (all: Groups): OperationMap =>
  new Map(
    Object.entries(all).flatMap(([tag, group]) =>
      Object.entries(group).flatMap(([route, operation]) => (operation === undefined ? [] : [[route, { ...operation, tag }] as const])),
    ),
  );

const described = mapOf(groups);

/** All operations, by `METHOD /path` as the route table has it. A new one is a few lines in the file of its group. */
export const operations: OperationMap = new Map([...described, ...aliasOperations(described)]);

/** Those of whoever runs the installation. */
export const administration = mapOf({
  Users: administeredUsers,
  Organizations: administeredOrganizations,
  Plans: administeredPlans,
});

/** An alias takes and answers what its route does. */
function aliasOperations(own: OperationMap): OperationMap {
  const routes = [...own.keys()].map(routeOf);
  return new Map(
    aliasesOf(routes)
      .filter(({ isEncoding }) => !isEncoding)
      .flatMap(({ method, path, of }) => {
        const name = `${of.method} ${of.path}`;
        const operation = own.get(name);
        return operation === undefined ? [] : [[`${method} ${path}`, aliasOperation(operation, name)] as const];
      }),
  );
}

function aliasOperation(operation: Described, of: string): Described {
  return { ...operation, id: `${operation.id}Alias`, tag: "Aliases", aliasOf: of, description: `Another address of \`${of}\`.` };
}

/** A key of {@link OperationMap} as a route. */
export function routeOf(key: string): Route {
  const [method = "", path = ""] = key.split(" ");
  return { method: method as Method, path }; // as the keys of Operations are written
}
