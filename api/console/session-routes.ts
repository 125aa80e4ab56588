import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import { z } from "zod";
import { InvalidInput, Unauthenticated } from "../../domain/errors.ts";
import { signedIn, signIn } from "../http/access/authentication.ts";
import { limitFailures, type FailureLimit } from "../http/access/failure-limit.ts";
import { hashOf } from "../http/access/hash.ts";
import { csrfTokenOf, keyHashOfSession, sessionMs, sessionTokenOf, setSessionCookie } from "../http/access/session.ts";
import { parse } from "../http/request/parse.ts";
import type { ApiPorts } from "../ports.ts";

const token = z.string().min(1).max(512);
/** One of them: an API key, or the token of a one-time link. */
const signInSchema = z.object({ api_key: token.optional(), link: token.optional() });

type SessionPorts = Pick<ApiPorts, "accounts" | "sessions" | "clock" | "randomBytes">;

/**
 * `/console/session`: POST signs in with an API key or a one-time link, GET returns the user, DELETE signs out. They are the console's own
 * interface; programs send API keys.
 * @param limitRate of all requests of a key
 */
export function sessionRoutes(ports: SessionPorts, failures: Omit<FailureLimit, "needed">, limitRate: RequestHandler): Router {
  const { accounts, sessions, clock, randomBytes } = ports;
  const limited = (identify: Parameters<typeof limitFailures>[1]) => limitFailures({ needed: "a valid session", ...failures }, identify);
  const signInWith = async (keyHash: string, response: Response): Promise<void> => {
    response.locals["signedIn"] = signIn(await accounts.findKey(keyHash), keyHash, clock.now());
  };
  const protocolOf = (request: Request) => failures.clientOf(request).protocol;
  const tokenOf = (request: Request): string => sessionTokenOf(request, protocolOf(request)) ?? "";

  const identifyNew = limited(async (request, response) => {
    const { api_key: key, link } = parse(signInSchema, request.body ?? {});
    if ((key ?? link) === undefined) throw new InvalidInput('api_key is missing: send {"api_key": "…"} as JSON');
    const keyHash = key === undefined ? await sessions.useLink(hashOf(link ?? ""), clock.now()) : hashOf(key);
    if (keyHash === undefined)
      throw new Unauthenticated("the link was used before or has expired: sign in with an API key", { code: "link_ended" });
    await signInWith(keyHash, response);
  });
  const identify = limited(async (request, response) => {
    const session = tokenOf(request);
    if (session === "") throw new Unauthenticated("no session: sign in", { code: "session_ended" });
    await signInWith(await keyHashOfSession(sessions, request, session, clock.now()), response);
  });

  const router = express.Router();
  router.post("/session", express.json({ limit: 4_096 }), identifyNew, limitRate, async (request, response) => {
    const { keyHash, grant } = signedIn(response);
    const session = Buffer.from(randomBytes(32)).toString("base64url");
    const expiresAt = Math.min(clock.now() + sessionMs, grant.expiresAt ?? Number.POSITIVE_INFINITY);
    await sessions.startSession({ hash: hashOf(session), keyHash, expiresAt }, clock.now());
    setSessionCookie(response, { token: session, protocol: protocolOf(request) });
    showSession(response, session);
  });
  router.get("/session", identify, limitRate, (request, response) => showSession(response, tokenOf(request)));
  router.delete("/session", identify, limitRate, async (request, response) => {
    await sessions.endSession(hashOf(tokenOf(request)));
    setSessionCookie(response, { token: "", protocol: protocolOf(request) });
    response.status(204).end();
  });
  return router;
}

function showSession(response: Response, session: string): void {
  const { user, grant } = signedIn(response);
  response.json({ data: { user, scopes: grant.scopes, csrf_token: csrfTokenOf(session) } });
}
