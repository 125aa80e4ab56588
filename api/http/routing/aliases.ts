import { parseRoute, type Route, type RouteName } from "./operation.ts";

/**
 * Aliases: further paths of an operation that programs written for the known service use. Mounting, the OpenAPI document and the contract
 * tests use this table.
 */
type Alias =
  /** Each path at or below one path is also at or below another. */
  | { readonly below: `/${string}`; readonly as: `/${string}` }
  /** One route. The parameters of both paths have the same names. */
  | {
      readonly route: RouteName;
      readonly as: `/${string}`;
      /** The same path, encoded differently. */
      readonly isEncoding?: true;
    };

const aliases: readonly Alias[] = [
  { below: "/orgs", as: "/workspaces" },
  { route: "GET /users/me/accounts", as: "/accounts" },
  { route: "GET /users/me/auto_subscriptions", as: "/auto_subscriptions" },
  { route: "GET /users/me/sources", as: "/sources" },
  { route: "GET /users/me/subscriptions", as: "/subscriptions" },
  { route: "GET /users/me/webhooks", as: "/webhooks" },
  { route: "GET /users/me/workflows", as: "/workflows" },
  { route: "GET /sources/:id/sse", as: "/sse/dc/:id/emits" },
  { route: "GET /sources/:id/logs/sse", as: "/sse/dc/:id/observations" },
  // Some clients percent-encode each segment of a path.
  {
    route: "GET /workflows/:workflow_id/$errors/event_summaries",
    as: "/workflows/:workflow_id/%24errors/event_summaries",
    isEncoding: true,
  },
];

export interface AliasRoute extends Route {
  readonly isEncoding: boolean;
}

/** Returns the aliases of a route. */
export type AliasesOf = (name: RouteName) => readonly AliasRoute[];

/** The admin API has none. */
export const noAliases: AliasesOf = () => [];

/** All aliases of a route of `/v1`. */
export function aliasesOf(name: RouteName): readonly AliasRoute[] {
  const route = parseRoute(name);
  return aliases.flatMap((alias) => {
    const path = aliasPath(alias, name, route.path);
    return path === undefined ? [] : [{ method: route.method, path, isEncoding: "isEncoding" in alias }];
  });
}

function aliasPath(alias: Alias, name: RouteName, path: string): string | undefined {
  if ("route" in alias) return alias.route === name ? alias.as : undefined;
  return path === alias.below || path.startsWith(`${alias.below}/`) ? alias.as + path.slice(alias.below.length) : undefined;
}
