import type { RequestHandler, Response } from "express";
import { parseTraceContext, type TraceContext, type Traces } from "../../../domain/traces.ts";
import { routeOf } from "./request-log.ts";

/** Sets the trace context of each request, and starts a span if tracing is on. */
export function traceRequests(traces: Traces | undefined): RequestHandler {
  return (request, response, next) => {
    const given = parseTraceContext(request.headers);
    response.locals["trace"] = given;
    if (traces === undefined || !/^(\/admin)?\/v1\//.test(request.path)) return next();
    const { method } = request;
    const span = traces.start(method, { kind: "server", traceparent: given.traceparent, attributes: { "http.request.method": method } });
    response.locals["trace"] = { ...given, traceparent: span.traceparent };
    response.once("close", () => {
      const [route, status] = [routeOf(response), response.statusCode];
      const attributes = { "http.route": route, "http.response.status_code": status };
      span.end({ name: `${method} ${route}`, attributes, error: status >= 500 ? String(status) : undefined });
    });
    next();
  };
}

/** Undefined: the caller sent none, and tracing is off. */
export function traceOf(response: Response): TraceContext | undefined {
  const trace = response.locals["trace"] as TraceContext | undefined; // Only set above.
  return trace?.traceparent === undefined ? undefined : trace;
}
