import type { RouteEntries } from "../../../delivery/routing/ports.ts";
import type { Route } from "../../../domain/source/deployment.ts";
import { buckets, defaultPool } from "../../../domain/subjects.ts";
import { Bucket } from "../buckets/bucket.ts";
import { SeenRevisions } from "../members/seen-revisions.ts";
import type { Connection } from "../connection/connection.ts";

/** The routes of subscriptions. The operator, which writes them, can wait until this process has seen a route. */
export function createRouteEntries(connection: Connection): RouteEntries {
  const routes = new Bucket<Route>(connection, buckets.routes, parseRoute);
  return {
    watch: async (onEntry) => {
      const seen = new SeenRevisions(connection);
      const watching = await routes.watch({
        initial: true,
        onEntry: (subscription, route, revision) => {
          onEntry(subscription, route);
          seen.saw(revision);
        },
      });
      seen.start(buckets.routes);
      return {
        stop: async () => {
          seen.stop();
          await watching.stop();
        },
      };
    },
  };
}

/** The operator writes routes from typed values; an older version omitted the pool. */
function parseRoute(json: unknown): Route {
  const route = json as Route;
  if (route.listener.kind !== "source") return route;
  return { ...route, listener: { ...route.listener, pool: route.listener.pool ?? defaultPool } };
}
