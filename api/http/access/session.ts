import type { Request, Response } from "express";
import { cookieValues, sessionCookies } from "../../../domain/session-cookie.ts";
import { Forbidden, Malformed, Unauthenticated } from "../../../domain/errors.ts";
import type { Sessions } from "../ports.ts";
import { hashOf } from "./hash.ts";

/** A session ends after this time, and with its API key. */
export const sessionMs = 7 * 86_400_000;
/** Header with the second secret of the session, which every request of it needs. */
export const csrfHeader = "x-headwater-csrf";

type Protocol = keyof typeof sessionCookies;

/**
 * The token in the session's cookie; undefined without one.
 * @throws Malformed for two cookies, of which another page of this host has set one: the order of cookies does not say which
 */
export function sessionTokenOf(request: Request, protocol: Protocol): string | undefined {
  const name = sessionCookies[protocol];
  const [token, ...others] = cookieValues(request.headers.cookie, name);
  if (others.length > 0)
    throw new Malformed(
      `the request has ${others.length + 1} cookies ${name}, and a session has one: another page of this host has set one; delete the cookies of this host in the browser, then sign in`,
      { code: "session_ambiguous" },
    );
  return token;
}

/**
 * The second secret of a session. Only signing in returns it, to the page that signed in, which keeps it where only pages of its own origin
 * can read it. Pages of other ports share the cookies, so a cookie alone does not show that this browser has signed in.
 */
export const csrfTokenOf = (token: string): string => hashOf(`csrf ${token}`);

/**
 * The hash of the API key of the request's session.
 * @throws Unauthenticated for an unknown or expired session, and for one in which this page has not signed in; Forbidden for an unsafe request
 * that another site may have caused
 */
export async function keyHashOfSession(sessions: Sessions, request: Request, token: string, now: number): Promise<string> {
  const keyHash = await sessions.findSession(hashOf(token), now);
  if (keyHash === undefined) throw new Unauthenticated("the session has ended: sign in again", { code: "session_ended" });
  if (!isSafe(request.method)) checkOrigin(request, token);
  else if (request.headers[csrfHeader] !== csrfTokenOf(token))
    throw new Unauthenticated(`the session needs the header ${csrfHeader}, whose value signing in returns: sign in again`, {
      code: "session_unbound",
    });
  return keyHash;
}

const isSafe = (method: string): boolean => ["GET", "HEAD", "OPTIONS"].includes(method);

function checkOrigin(request: Request, token: string): void {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin")
    throw new Forbidden("the request comes from another site: a session accepts changes from the console only", { code: "cross_site" });
  if (request.headers[csrfHeader] !== csrfTokenOf(token))
    throw new Forbidden(`the header ${csrfHeader} is missing or wrong: signing in returns its value`, { code: "csrf_token_missing" });
}

/** Sets the cookie, or with an empty token removes it. */
export function setSessionCookie(response: Response, { token, protocol }: { readonly token: string; readonly protocol: Protocol }): void {
  const age = token === "" ? 0 : sessionMs / 1_000;
  const secure = protocol === "https" ? "; Secure" : "";
  response.setHeader("set-cookie", `${sessionCookies[protocol]}=${token}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`);
}
