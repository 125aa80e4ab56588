import { createHash, timingSafeEqual } from "node:crypto";
import type { RequestHandler } from "express";
import type { Clock } from "../../domain/clock.ts";
import { Unauthenticated } from "../../domain/errors.ts";
import type { RateLimit } from "../config.ts";
import { bearerOf, limitFailures } from "../http/limit-failures.ts";

/** Lets pass who has the admin token. Digests are compared, in constant time: neither length nor beginning is told by how long it takes. */
export function authenticateAdmin(token: string, failureLimit: RateLimit, clock: Clock): RequestHandler {
  const expected = digest(token);
  return limitFailures("the admin token", failureLimit, clock, (request) => {
    if (timingSafeEqual(digest(bearerOf(request.headers.authorization, "admin token")), expected)) return;
    throw new Unauthenticated("this is not the admin token: API keys do not count here");
  });
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
