import type { RequestHandler, Router } from "express";
import { HeadwaterError, NotFound } from "../../domain/errors.ts";
import type { Asked, Call, Handle } from "./call.ts";
import { handle, type CallOf } from "./handle.ts";

const methods = ["GET", "POST", "PUT", "DELETE"] as const;
export type Method = (typeof methods)[number];
export type RouteTable<Request extends Asked = Call> = Readonly<Record<string, Readonly<Partial<Record<Method, Handle<Request>>>>>>;

/** A path as express writes it, `/sources/:id`, and a method that it answers. */
export interface Route {
  readonly method: Method;
  readonly path: string;
}

/** All that the table answers. */
export function routesOf<Request extends Asked>(table: RouteTable<Request>): readonly Route[] {
  return Object.entries(table).flatMap(([path, actions]) =>
    methods.filter((method) => actions[method] !== undefined).map((method) => ({ method, path })),
  );
}

/** Joins the table to a router. Every path also answers OPTIONS, HEAD where it answers GET, and 405 with `Allow` to the rest. */
export function mount<Request extends Asked>(router: Router, base: string, table: RouteTable<Request>, callOf: CallOf<Request>): void {
  for (const [path, actions] of Object.entries(table)) {
    const route = router.route(path);
    const { GET, POST, PUT, DELETE } = actions;
    if (GET !== undefined) route.get(handle(base + path, GET, callOf));
    if (POST !== undefined) route.post(handle(base + path, POST, callOf));
    if (PUT !== undefined) route.put(handle(base + path, PUT, callOf));
    if (DELETE !== undefined) route.delete(handle(base + path, DELETE, callOf));
    route.all(otherMethods(Object.keys(actions)));
  }
}

/** Answers OPTIONS, and 405 to what is not among these. */
export function otherMethods(methods: readonly string[]): RequestHandler {
  const allowed = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  return (request, response) => {
    response.setHeader("allow", allowed);
    if (request.method === "OPTIONS") return void response.status(204).end();
    throw new HeadwaterError(405, "method_not_allowed", `${request.method} is not possible here: ${allowed} are`);
  };
}

export const noSuchRoute: RequestHandler = (request) => {
  throw new NotFound(`there is no ${request.method} ${request.path.slice(0, 200)}`, { code: "no_such_route" });
};
