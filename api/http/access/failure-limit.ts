import type { IncomingMessage } from "node:http";
import type { Request, RequestHandler, Response } from "express";
import { networkOf, type Client } from "../../../domain/client-address.ts";
import type { Clock } from "../../../domain/clock.ts";
import { QuotaExceeded, Unauthenticated } from "../../../domain/errors.ts";
import type { RateLimit } from "../../config.ts";
import { Gcra } from "./gcra.ts";

/** Identifies the caller for the handlers after it. @throws Unauthenticated */
type Identify = (request: Request, response: Response) => Promise<void> | void;

export interface FailureLimit {
  /** The credential that callers need. */
  readonly needed: string;
  readonly limit: RateLimit;
  readonly clock: Clock;
  readonly clientOf: (request: IncomingMessage) => Client;
}

/**
 * Responds 429 to clients that fail too often. Authentication comes first: many clients may share an address, and one with a valid key
 * must not be limited by the failures of another.
 */
export function limitFailures({ needed, limit, clock, clientOf }: FailureLimit, identify: Identify): RequestHandler {
  const failures = new Gcra(limit, clock);
  return async (request, response, next) => {
    const { address } = clientOf(request);
    response.locals["address"] = address;
    try {
      await identify(request, response);
    } catch (error) {
      if (!(error instanceof Unauthenticated)) throw error;
      response.setHeader("www-authenticate", "Bearer");
      const { allowed, resetAt } = failures.take(networkOf(address));
      if (allowed) throw error;
      response.setHeader("retry-after", Math.max(1, Math.ceil((resetAt - clock.now()) / 1000)));
      throw new QuotaExceeded(`too many requests without ${needed} from this address: send ${needed}, or wait as Retry-After says`, {
        code: "too_many_failures",
      });
    }
    next();
  };
}

/** IP address of the client. */
export function addressOf(response: Response): string {
  return String(response.locals["address"] ?? "");
}

/** Returns the token of `Authorization: Bearer`. @param what the expected token, for messages @throws Unauthenticated */
export function bearerOf(header: string | undefined, what: string): string {
  if (header === undefined) throw new Unauthenticated(`the Authorization header is missing: send 'Authorization: Bearer <${what}>'`);
  const bearer = /^Bearer +(\S{1,512}) *$/i.exec(header)?.[1];
  if (bearer === undefined) throw new Unauthenticated(`the Authorization header is invalid: it must be 'Bearer <${what}>'`);
  return bearer;
}
