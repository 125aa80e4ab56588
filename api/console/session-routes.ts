import express, { type Router } from "express";
import { z } from "zod";
import { InvalidInput, Unauthenticated } from "../../domain/errors.ts";
import { signIn } from "../http/access/authentication.ts";
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
 * `/console/session`: POST signs in with an API key or a one-time link, GET returns the user and the CSRF token, DELETE signs out. They are
 * the console's own interface; programs send API keys.
 */
export function sessionRoutes(ports: SessionPorts, failures: Omit<FailureLimit, "needed">): Router {
  const { accounts, sessions, clock, randomBytes } = ports;
  const router = express.Router();
  const limited = (identify: Parameters<typeof limitFailures>[1]) => limitFailures({ needed: "a valid session", ...failures }, identify);

  router.post(
    "/session",
    express.json({ limit: 4_096 }),
    limited(async (request, response) => {
      const { api_key: key, link } = parse(signInSchema, request.body ?? {});
      if ((key ?? link) === undefined) throw new InvalidInput('api_key is missing: send {"api_key": "…"} as JSON');
      const keyHash = key === undefined ? await sessions.useLink(hashOf(link ?? ""), clock.now()) : hashOf(key);
      if (keyHash === undefined)
        throw new Unauthenticated("the link was used before or has expired: sign in with an API key", { code: "link_ended" });
      const { user, grant } = signIn(await accounts.findKey(keyHash), keyHash, clock.now());
      const session = Buffer.from(randomBytes(32)).toString("base64url");
      const expiresAt = Math.min(clock.now() + sessionMs, grant.expiresAt ?? Number.POSITIVE_INFINITY);
      await sessions.startSession({ hash: hashOf(session), keyHash, expiresAt }, clock.now());
      setSessionCookie(response, { token: session, isSecure: failures.clientOf(request).protocol === "https" });
      response.json({ data: { user, scopes: grant.scopes, csrf_token: csrfTokenOf(session) } });
    }),
  );
  router.get(
    "/session",
    limited(async (request, response) => {
      const session = sessionTokenOf(request);
      if (session === undefined) throw new Unauthenticated("no session: sign in", { code: "session_ended" });
      const keyHash = await keyHashOfSession(sessions, request, session, clock.now());
      const { user, grant } = signIn(await accounts.findKey(keyHash), keyHash, clock.now());
      response.json({ data: { user, scopes: grant.scopes, csrf_token: csrfTokenOf(session) } });
    }),
  );
  router.delete(
    "/session",
    limited(async (request, response) => {
      const session = sessionTokenOf(request);
      if (session !== undefined) {
        await keyHashOfSession(sessions, request, session, clock.now());
        await sessions.endSession(hashOf(session));
      }
      setSessionCookie(response, { token: "", isSecure: failures.clientOf(request).protocol === "https" });
      response.status(204).end();
    }),
  );
  return router;
}
