import type { RequestHandler } from "express";
import { QuotaUsedUp } from "../../../domain/errors.ts";
import type { DrainableServer } from "../../ports.ts";
import { signedIn } from "./authentication.ts";

export type Charge = DrainableServer["charge"];

const retryAfterMs = 1_000;

/**
 * Counts the connections of requests in progress by their users, who may have many keys, organizations and addresses. Runs after the
 * authentication.
 * @throws QuotaUsedUp when the user has as many as one user may have
 */
export function chargeConnections(charge: Charge): RequestHandler {
  return (request, response, next) => {
    const { user } = signedIn(response);
    if (!charge(request, user.id))
      throw new QuotaUsedUp(
        `too many requests and streams of ${user.username} are in progress on this server: close some, or wait until some are answered`,
        retryAfterMs,
        { code: "too_many_connections" },
      );
    next();
  };
}
