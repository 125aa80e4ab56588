import { randomBytes } from "node:crypto";
import type { RequestHandler, Response } from "express";
import type { Clock } from "../../../domain/clock.ts";
import type { Log } from "../../../domain/log.ts";
import type { HttpMetrics } from "./metrics.ts";

/** Logs and measures each request when its response is sent or its connection is closed. Never logs query or body, which contain user data. */
export function logRequests(log: Log, metrics: HttpMetrics, clock: Clock): RequestHandler {
  return (request, response, next) => {
    const startedAt = clock.now();
    response.locals["requestId"] = randomBytes(8).toString("hex");
    response.setHeader("x-request-id", requestId(response));
    response.once("close", () => {
      const durationMs = clock.now() - startedAt;
      const route = routeOf(response);
      metrics.observe({ method: request.method, route, status: response.statusCode }, durationMs / 1000);
      if (/^(\/admin)?\/v1/.test(route)) log.info(line(request.method, route, response, durationMs));
    });
    next();
  };
}

export function requestId(response: Response): string {
  return String(response.locals["requestId"] ?? "");
}

/** The route's pattern, never the path, which contains ids and is unbounded. */
export function routeOf(response: Response): string {
  const route: unknown = response.locals["route"];
  return typeof route === "string" ? route : "none";
}

function line(method: string, route: string, response: Response, durationMs: number): object {
  const signedIn = response.locals["signedIn"] as { user: { id: string } } | undefined; // Set by authentication.ts.
  const error: unknown = response.locals["errorCode"];
  return {
    op: "http.request",
    outcome: response.statusCode < 500 && response.writableFinished ? "ok" : "error",
    "http.request.method": method,
    "http.route": route,
    "http.response.status_code": response.statusCode,
    duration_ms: durationMs,
    "request.id": requestId(response),
    ...(signedIn === undefined ? {} : { "user.id": signedIn.user.id }),
    ...(typeof error === "string" ? { "error.type": error } : {}),
    ...(response.writableFinished ? {} : { aborted: true }),
  };
}
