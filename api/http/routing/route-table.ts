import type { Request, RequestHandler, Router } from "express";
import { HeadwaterError } from "../../../domain/errors.ts";
import type { Asked, Call, Handle } from "../request/call.ts";
import type { KnownNames } from "../request/recognized-names.ts";
import { handle, type CallOf } from "./handle.ts";

const methods = ["GET", "POST", "PUT", "DELETE"] as const;
export type Method = (typeof methods)[number];
export type RouteTable<Request extends Asked = Call> = Readonly<Record<string, Readonly<Partial<Record<Method, Handle<Request>>>>>>;

/** A path in express syntax, `/sources/:id`, and one of its methods. */
export interface Route {
  readonly method: Method;
  readonly path: string;
}

/** All routes of the table. */
export function routesOf<Request extends Asked>(table: RouteTable<Request>): readonly Route[] {
  return Object.entries(table).flatMap(([path, actions]) =>
    methods.filter((method) => actions[method] !== undefined).map((method) => ({ method, path })),
  );
}

/** The names that an operation knows; undefined if the document does not describe it. */
export type KnownNamesOf = (route: Route) => KnownNames | undefined;

/** Mounts the table on a router. Every path also supports OPTIONS, HEAD if it has GET, and returns 405 with `Allow` otherwise. */
export function mount<Request extends Asked>(
  router: Router,
  base: string,
  table: RouteTable<Request>,
  callOf: CallOf<Request>,
  knownNamesOf: KnownNamesOf,
): void {
  for (const [path, actions] of Object.entries(table)) {
    const route = router.route(path);
    for (const method of methods) {
      const act = actions[method];
      if (act === undefined) continue;
      route[verbs[method]](handle(base + path, act, callOf, knownNamesOf({ method, path })));
    }
    route.all(otherMethods(Object.keys(actions)));
  }
}

const verbs = { GET: "get", POST: "post", PUT: "put", DELETE: "delete" } as const;

/** Responds to OPTIONS, and with 405 to all other methods. */
export function otherMethods(methods: readonly string[]): RequestHandler {
  const allowed = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  return (request, response) => {
    response.setHeader("allow", allowed);
    if (request.method === "OPTIONS") return void response.status(204).end();
    const changes = request.method === "PATCH" && methods.includes("PUT") ? "; PUT changes the given fields" : "";
    throw new HeadwaterError(
      405,
      "method_not_allowed",
      `${request.method} is not possible on ${clip(pathOf(request))}: ${allowed} are${changes}`,
    );
  };
}

const pathOf = ({ baseUrl, path }: Request): string => baseUrl + path;

const clip = (text: string): string => text.slice(0, 200);
