import type { RequestHandler } from "express";
import { rateLimit, type Store } from "express-rate-limit";
import type { Clock } from "../../../domain/clock.ts";
import { QuotaExceeded } from "../../../domain/errors.ts";
import type { RateLimit } from "../../config.ts";
import { signedIn } from "./authentication.ts";
import { Gcra } from "./gcra.ts";

/** Sets `RateLimit`, `RateLimit-Policy` (draft 8) and, with 429, `Retry-After`. Runs after the authentication. */
export function limitRate(limit: RateLimit, clock: Clock): RequestHandler {
  return rateLimit({
    windowMs: limit.windowMs,
    limit: limit.requests,
    standardHeaders: "draft-8",
    legacyHeaders: false,
    store: storeOf(new Gcra(limit, clock)),
    keyGenerator: (_request, response) => signedIn(response).keyHash,
    handler: (_request, _response, next) => {
      next(
        new QuotaExceeded(
          `more than ${limit.requests} requests in ${limit.windowMs / 1000} s with this API key: wait as Retry-After says`,
          { code: "rate_limited" },
        ),
      );
    },
  });
}

function storeOf(gcra: Gcra): Store {
  return {
    localKeys: true,
    increment(key) {
      const { used, resetAt } = gcra.take(key);
      return { totalHits: used, resetTime: new Date(resetAt) };
    },
    // Only called if some outcomes do not count; here all count.
    decrement: () => undefined,
    resetKey: (key) => gcra.reset(key),
  };
}
