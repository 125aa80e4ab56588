import type { Request, RequestHandler, Router } from "express";
import { HeadwaterError } from "../../../domain/errors.ts";
import type { AnonymousCall } from "../request/call.ts";
import { knownNames } from "../request/known-names.ts";
import type { AliasesOf } from "./aliases.ts";
import { handle, type CallOf, type ListWriter } from "./handle.ts";
import { methods, parseRoute, type Method, type Operation, type Route } from "./operation.ts";

type ByMethod<Caller extends AnonymousCall, Context> = Partial<Record<Method, Operation<Caller, Context>>>;

interface MountOptions<Caller extends AnonymousCall, Context> {
  /** Prefix of all paths. */
  readonly base: string;
  readonly context: Context;
  readonly callOf: CallOf<Caller>;
  readonly aliasesOf: AliasesOf;
  readonly lists: ListWriter;
}

/** Mounts operations and their aliases. Every path also supports OPTIONS, HEAD if it has GET, and returns 405 with `Allow` otherwise. */
export function mount<Caller extends AnonymousCall, Context>(
  router: Router,
  operations: readonly Operation<Caller, Context>[],
  options: MountOptions<Caller, Context>,
): void {
  for (const [path, byMethod] of byPath(operations, options.aliasesOf)) {
    const route = router.route(path);
    for (const method of methods) {
      const operation = byMethod[method];
      if (operation !== undefined) route[verbs[method]](handlerOf(operation, path, options));
    }
    route.all(otherMethods(Object.keys(byMethod)));
  }
}

/** An alias may add a method to a path that has other operations. */
function byPath<Caller extends AnonymousCall, Context>(operations: readonly Operation<Caller, Context>[], aliasesOf: AliasesOf) {
  const paths = new Map<string, ByMethod<Caller, Context>>();
  const add = ({ method, path }: Route, operation: Operation<Caller, Context>): void =>
    void paths.set(path, { ...paths.get(path), [method]: operation });
  for (const operation of operations) add(parseRoute(operation.route), operation);
  for (const operation of operations) for (const alias of aliasesOf(operation.route)) add(alias, operation);
  return paths;
}

function handlerOf<Caller extends AnonymousCall, Context>(
  operation: Operation<Caller, Context>,
  path: string,
  { base, context, callOf, lists }: MountOptions<Caller, Context>,
): RequestHandler {
  const route = base + path;
  if (operation.handle !== undefined) return handle(operation, route, context, callOf, knownNames(operation, base, path), lists);
  return async (request, response) => {
    response.locals["route"] = route;
    await operation.respond?.(request, response, context);
  };
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
