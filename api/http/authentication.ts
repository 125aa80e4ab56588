import { createHash } from "node:crypto";
import type { RequestHandler, Response } from "express";
import { ipKeyGenerator } from "express-rate-limit";
import type { Clock } from "../../domain/clock.ts";
import { QuotaExceeded, Unauthenticated } from "../../domain/errors.ts";
import type { RateLimit } from "../config.ts";
import type { Accounts, User } from "../ports.ts";
import { Gcra } from "./gcra.ts";

export interface SignedIn {
  readonly user: User;
  readonly keyHash: string;
}

/**
 * `Authorization: Bearer <API key>` becomes the user whose key it is. A key of 256 random bits cannot be guessed, so one
 * SHA-256 is right; slow hashes are for passwords. Whoever fails too often waits, so that guessing costs us no look-ups.
 */
export function authenticate(accounts: Accounts, failureLimit: RateLimit, clock: Clock): RequestHandler {
  const failures = new Gcra(failureLimit, clock);
  return async (request, response, next) => {
    const address = ipKeyGenerator(request.ip ?? "");
    const allowed = failures.peek(address);
    if (!allowed.allowed) {
      response.setHeader("retry-after", Math.max(1, Math.ceil((allowed.resetAt - clock.now()) / 1000)));
      throw new QuotaExceeded("too many requests without a valid API key from this address: wait as Retry-After says", {
        code: "too_many_failures",
      });
    }
    try {
      response.locals["signedIn"] = await signIn(request.headers.authorization, accounts);
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

/** Set by {@link authenticate} for every route behind it. */
export function signedIn(response: Response): SignedIn {
  const found = response.locals["signedIn"] as SignedIn | undefined; // only set above
  if (found === undefined) throw new Unauthenticated("no user is signed in");
  return found;
}

async function signIn(header: string | undefined, accounts: Accounts): Promise<SignedIn> {
  if (header === undefined) throw new Unauthenticated("the Authorization header is missing: send 'Authorization: Bearer <API key>'");
  const key = /^Bearer +(\S{1,512}) *$/i.exec(header)?.[1];
  if (key === undefined) throw new Unauthenticated("the Authorization header is invalid: it must be 'Bearer <API key>'");
  const keyHash = createHash("sha256").update(key).digest("hex");
  const user = await accounts.findUserByKeyHash(keyHash);
  if (user === undefined) throw new Unauthenticated("the API key is unknown or was revoked");
  return { user, keyHash };
}
