import { hash, timingSafeEqual } from "node:crypto";
import type { RequestHandler } from "express";
import { Unauthenticated } from "../../domain/errors.ts";
import { bearerOf, limitFailures, type FailureLimit } from "../http/access/failure-limit.ts";

/** Requires the admin token. Compares digests in constant time, so that the duration reveals neither its length nor its beginning. */
export function authenticateAdmin(token: string, failures: Omit<FailureLimit, "needed">): RequestHandler {
  const expected = digest(token);
  return limitFailures({ needed: "the admin token", ...failures }, (request) => {
    if (timingSafeEqual(digest(bearerOf(request.headers.authorization, "admin token")), expected)) return;
    throw new Unauthenticated("this is not the admin token: API keys are not valid here");
  });
}

const digest = (text: string): Buffer => hash("sha256", text, "buffer");
