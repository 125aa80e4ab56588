import type { Request, Response } from "express";
import { cookieValue, sessionCookie } from "../../../domain/session-cookie.ts";
import { Forbidden, Unauthenticated } from "../../../domain/errors.ts";
import type { Sessions } from "../../owners/ports.ts";
import { hashOf } from "./hash.ts";

/** A session ends after this time, and with its API key. */
export const sessionMs = 7 * 86_400_000;
/** Header with the session's CSRF token, which every unsafe request of a session needs. */
export const csrfHeader = "x-headwater-csrf";

/** The token in the session's cookie; undefined without one. */
export const sessionTokenOf = (request: Request): string | undefined => cookieValue(request.headers.cookie, sessionCookie);

/** Other pages cannot read it: it follows from the token in the HttpOnly cookie, and only same-origin scripts can request it. */
export const csrfTokenOf = (token: string): string => hashOf(`csrf ${token}`);

/**
 * The hash of the API key of the request's session. @throws Unauthenticated for an unknown or expired session, Forbidden for an unsafe
 * request that another site may have caused
 */
export async function keyHashOfSession(sessions: Sessions, request: Request, token: string, now: number): Promise<string> {
  const keyHash = await sessions.findSession(hashOf(token), now);
  if (keyHash === undefined) throw new Unauthenticated("the session has ended: sign in again", { code: "session_ended" });
  if (!isSafe(request.method)) checkOrigin(request, token);
  return keyHash;
}

const isSafe = (method: string): boolean => ["GET", "HEAD", "OPTIONS"].includes(method);

function checkOrigin(request: Request, token: string): void {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin")
    throw new Forbidden("the request comes from another site: a session accepts changes from the console only", { code: "cross_site" });
  if (request.headers[csrfHeader] !== csrfTokenOf(token))
    throw new Forbidden(`the header ${csrfHeader} is missing or wrong: GET /console/session returns its value`, {
      code: "csrf_token_missing",
    });
}

/** Sets the cookie, or with an empty token removes it. */
export function setSessionCookie(response: Response, { token, isSecure }: { readonly token: string; readonly isSecure: boolean }): void {
  const age = token === "" ? 0 : sessionMs / 1_000;
  const secure = isSecure ? "; Secure" : "";
  response.setHeader("set-cookie", `${sessionCookie}=${token}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`);
}
