import type { Request, RequestHandler, Response } from "express";
import { ipKeyGenerator } from "express-rate-limit";
import type { Clock } from "../../domain/clock.ts";
import { QuotaExceeded, Unauthenticated } from "../../domain/errors.ts";
import type { RateLimit } from "../config.ts";
import { Gcra } from "./gcra.ts";

/** Finds out who is calling, for what comes behind. @throws Unauthenticated */
type Identify = (request: Request, response: Response) => Promise<void> | void;

/** `needed`: what callers must have. Whoever fails too often waits, so that guessing costs us no look-ups. */
export function limitFailures(needed: string, limit: RateLimit, clock: Clock, identify: Identify): RequestHandler {
  const failures = new Gcra(limit, clock);
  return async (request, response, next) => {
    const address = ipKeyGenerator(request.ip ?? "");
    const allowed = failures.peek(address);
    if (!allowed.allowed) {
      response.setHeader("retry-after", Math.max(1, Math.ceil((allowed.resetAt - clock.now()) / 1000)));
      throw new QuotaExceeded(`too many requests without ${needed} from this address: wait as Retry-After says`, {
        code: "too_many_failures",
      });
    }
    try {
      await identify(request, response);
    } catch (error) {
      if (error instanceof Unauthenticated) {
        failures.take(address);
        response.setHeader("www-authenticate", "Bearer");
      }
      throw error;
    }
    next();
  };
}

/** What stands behind `Authorization: Bearer`; `what` says what should. @throws Unauthenticated */
export function bearerOf(header: string | undefined, what: string): string {
  if (header === undefined) throw new Unauthenticated(`the Authorization header is missing: send 'Authorization: Bearer <${what}>'`);
  const bearer = /^Bearer +(\S{1,512}) *$/i.exec(header)?.[1];
  if (bearer === undefined) throw new Unauthenticated(`the Authorization header is invalid: it must be 'Bearer <${what}>'`);
  return bearer;
}
