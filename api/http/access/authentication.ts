import type { RequestHandler, Response } from "express";
import type { Clock } from "../../../domain/clock.ts";
import { Forbidden, Unauthenticated } from "../../../domain/errors.ts";
import type { KeyGrant, Keys, Scope, Sessions, SignInKey, User } from "../ports.ts";
import type { AnonymousCall, Call, Input } from "../request/call.ts";
import { bearerOf, limitFailures, type FailureLimit } from "./failure-limit.ts";
import { hashOf } from "./hash.ts";
import { keyHashOfSession, sessionTokenOf } from "./session.ts";

export interface SignedIn {
  readonly user: User;
  readonly keyHash: string;
  readonly grant: KeyGrant;
  readonly key: { readonly id: string; readonly name: string };
  /** Absent: the request has an API key. */
  readonly sessionId?: string | undefined;
}

interface SignInPorts {
  readonly accounts: Keys;
  readonly sessions: Sessions;
}

/** Resolves `Authorization: Bearer <API key>`, or the cookie of a session, to the key's user and scopes. */
export function authenticate({ accounts, sessions }: SignInPorts, failures: Omit<FailureLimit, "needed">): RequestHandler {
  return limitFailures({ needed: "a valid API key", ...failures }, async (request, response) => {
    const { authorization } = request.headers;
    const session = authorization === undefined ? sessionTokenOf(request, failures.clientOf(request).protocol) : undefined;
    const now = failures.clock.now();
    const keyHash =
      session === undefined ? hashOf(bearerOf(authorization, "API key")) : await keyHashOfSession(sessions, request, session, now);
    const signed = signIn(await accounts.findKey(keyHash), keyHash, now);
    response.locals["signedIn"] = { ...signed, sessionId: session && sessionIdOf(session) } satisfies SignedIn;
  });
}

const sessionIdLength = 12;

/** Identifies a session in the audit log. It is part of the hash of the token, so it is no secret. */
const sessionIdOf = (token: string): string => hashOf(token).slice(0, sessionIdLength);

/** @throws Unauthenticated for an unknown key, and for one that has expired */
export function signIn(key: SignInKey | undefined, keyHash: string, now: number): SignedIn {
  if (key === undefined) throw new Unauthenticated("the API key is unknown or was revoked");
  if (isExpired(key, now))
    throw new Unauthenticated(`the API key ${key.id} expired at ${new Date(key.expiresAt ?? 0).toISOString()}: use another one`, {
      code: "key_expired",
    });
  const { user, scopes, expiresAt, id, name } = key;
  return { user, keyHash, grant: { scopes, expiresAt }, key: { id, name } };
}

function isExpired({ expiresAt }: KeyGrant, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** The user of a key that is still valid, for what goes on after its request was signed in. Undefined: the key was revoked, or has expired. */
export async function userOfKey(
  { accounts, clock }: { readonly accounts: Keys; readonly clock: Clock },
  keyHash: string,
): Promise<User | undefined> {
  const key = await accounts.findKey(keyHash);
  return key === undefined || isExpired(key, clock.now()) ? undefined : key.user;
}

/** Set by {@link authenticate} for every route after it. */
export function signedIn(response: Response): SignedIn {
  const found = response.locals["signedIn"] as SignedIn | undefined; // Only set above.
  if (found === undefined) throw new Unauthenticated("no user is signed in");
  return found;
}

export function signedInCall(call: AnonymousCall & Input, response: Response): Call & Input {
  const { user, grant, key, sessionId } = signedIn(response);
  return { ...call, user, grant, key, sessionId };
}

/** Refuses methods outside the key's scopes. Runs after {@link authenticate}. */
export const checkScope: RequestHandler = (request, response, next) => {
  const { scopes } = signedIn(response).grant;
  const needed = scopeOf(request.method);
  if (needed !== undefined && !scopes.includes(needed))
    throw new Forbidden(`${request.method} needs the scope '${needed}', which this API key does not have: it has '${scopes.join(", ")}'`, {
      code: "scope_missing",
      details: { needed, scopes },
    });
  next();
};

/** OPTIONS needs no scope. */
function scopeOf(method: string): Scope | undefined {
  if (method === "OPTIONS") return undefined;
  return method === "GET" || method === "HEAD" ? "read" : "write";
}
