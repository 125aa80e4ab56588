import { routesOf, type Method, type Route, type RouteTable } from "./route-table.ts";

/**
 * Aliases: further addresses of a route that programs written for the known service use. An alias shares the handler of its route. The
 * OpenAPI document and the contract tests are generated from this table.
 */
type Alias =
  /** Each route at or below one path is also at or below another. */
  | { readonly below: `/${string}`; readonly as: `/${string}` }
  /** One route. The parameters of both paths have the same names. */
  | {
      readonly route: `${Method} /${string}`;
      readonly as: `/${string}`;
      /** The same path, encoded differently. */ readonly isEncoding?: true;
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
  /** The route whose handler it shares. */
  readonly of: Route;
  readonly isEncoding: boolean;
}

/** All aliases of these routes. */
export function aliasesOf(routes: readonly Route[]): readonly AliasRoute[] {
  return aliases.flatMap((alias) =>
    routes.flatMap((of) => {
      const path = aliasPath(alias, of);
      return path === undefined ? [] : [{ method: of.method, path, of, isEncoding: "isEncoding" in alias }];
    }),
  );
}

function aliasPath(alias: Alias, { method, path }: Route): string | undefined {
  if ("route" in alias) return alias.route === `${method} ${path}` ? alias.as : undefined;
  return path === alias.below || path.startsWith(`${alias.below}/`) ? alias.as + path.slice(alias.below.length) : undefined;
}

/** The routes and their aliases for the OpenAPI document, which does not list different encodings of one path. */
export function documentedRoutes(routes: readonly Route[]): readonly Route[] {
  return [...routes, ...aliasesOf(routes).filter(({ isEncoding }) => !isEncoding)];
}

/** Adds the aliases to the table. An alias may add a method to a path that the table already has. */
export function withAliases(table: RouteTable): RouteTable {
  const all: Record<string, RouteTable[string]> = { ...table };
  for (const { method, path, of } of aliasesOf(routesOf(table))) all[path] = { ...all[path], [method]: table[of.path]?.[method] };
  return all;
}
