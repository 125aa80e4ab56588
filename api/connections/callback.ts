import express, { type ErrorRequestHandler, type Request, type Response, type Router } from "express";
import { connectionMs, type ConnectionProblem } from "../../domain/connection/connection.ts";
import { HeadwaterError, Unauthenticated } from "../../domain/errors.ts";
import { userOfKey } from "../http/access/authentication.ts";
import { limitFailures, type FailureLimit } from "../http/access/failure-limit.ts";
import { hashOf } from "../http/access/hash.ts";
import { sessionTokenOf } from "../http/access/session.ts";
import { formPageHeaders } from "../http/response/security-headers.ts";
import { otherMethods } from "../http/routing/mount.ts";
import { callbackPath } from "../oauth-clients/client.ts";
import type { ApiContext } from "../context.ts";
import { finishConnection, mayFinish } from "./finish.ts";
import { confirmPage, connectedPage, continuePage, failedPage, type Page } from "./pages.ts";
import type { ConnectionOutcome, StoredConnection } from "./ports.ts";

type Context = Pick<ApiContext, "ports" | "config">;

/** What a service sends back with the browser (RFC 6749, sections 4.1.2 and 4.1.2.1; RFC 9207). */
interface Returned {
  readonly state: string;
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly issuer: string | undefined;
  /** Not of the service: the page that names the user sends it. */
  readonly confirm: string | undefined;
}

const statePattern = /^[\w-]{43}$/;
const maxCodeLength = 8_192;

/**
 * The page to which services redirect browsers. The redirect comes from another site, so the first request has no cookie of the session:
 * the page then loads itself once more. A connection that an API key began is finished by a click on a page that names the user.
 */
export function oauthCallback(context: Context, failures: Omit<FailureLimit, "needed">): Router {
  const router = express.Router();
  const find = limitFailures({ needed: "a state that is valid", ...failures }, async (request, response) => {
    const returned = returnedBy(request);
    const found = returned === undefined ? undefined : await context.ports.connections.findByState(hashOf(returned.state));
    if (returned === undefined || found === undefined) throw unknownState();
    Object.assign(response.locals, { returned, connection: found });
  });
  const answer = async (request: Request, response: Response): Promise<void> => {
    const { returned, connection } = response.locals as unknown as { returned: Returned; connection: StoredConnection }; // Set above.
    const page = await respond(request, returned, connection, { ...context, failures });
    response.status(page.status);
    response.type("html").send(page.html);
  };
  router.use(callbackPath, (_request, response, next) => {
    response.locals["route"] = callbackPath;
    formPageHeaders(response);
    next();
  });
  router
    .route(callbackPath)
    .get(find, answer)
    .post(express.urlencoded({ limit: 16_384, extended: false }), find, answer)
    .all(otherMethods(["GET", "POST"]));
  router.use(callbackPath, showError);
  return router;
}

const unknownState = (): Unauthenticated =>
  new Unauthenticated("this page does not belong to a connection that was begun here, or it was begun too long ago: start again", {
    code: "link_ended",
  });

function returnedBy(request: Request): Returned | undefined {
  const given: Readonly<Record<string, unknown>> =
    request.method === "POST" ? ((request.body ?? {}) as Readonly<Record<string, unknown>>) : request.query;
  const text = (name: string): string | undefined => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return typeof value === "string" && value !== "" && value.length <= maxCodeLength ? value : undefined;
  };
  const state = text("state");
  if (state === undefined || !statePattern.test(state)) return undefined;
  return { state, code: text("code"), error: text("error"), issuer: text("iss"), confirm: text("confirm") };
}

interface Answering extends Context {
  readonly failures: Pick<FailureLimit, "clientOf" | "clock">;
}

async function respond(request: Request, returned: Returned, connection: StoredConnection, context: Answering): Promise<Page> {
  const now = context.ports.clock.now();
  if (connection.outcome !== null) return pageOf(connection.outcome, connection);
  if (connection.isUsed) return failedPage(connection.request.appName, replayed);
  if (connection.expiresAt <= now) return failedPage(connection.request.appName, expired);
  const viewer = await viewerOf(request, context);
  if (connection.session !== null) {
    if (viewer === undefined && !isSecondRequest(request)) return continuePage(addressOfSecond(returned));
    if (viewer?.session !== connection.session || viewer.user !== connection.user)
      return failedPage(connection.request.appName, otherSession);
  } else {
    if (viewer !== undefined && viewer.user !== connection.user) return failedPage(connection.request.appName, otherUser);
    const confirm = confirmationOf(connection, returned);
    if (request.method !== "POST" || returned.confirm !== confirm)
      return confirmPage(connection.request.appName, await nameOf(connection.user, context), { ...returned, confirm });
  }
  return finish(returned, context);
}

/**
 * A service can also answer with a POST (`response_mode=form_post`), so a POST alone is no click. The value belongs to this answer of the
 * service: the user who began the connection cannot get it with another code.
 */
const confirmationOf = ({ verifier }: StoredConnection, { code, error, issuer }: Returned): string =>
  hashOf(JSON.stringify(["confirm", verifier, code ?? null, error ?? null, issuer ?? null]));

/** Takes the state, so a second request with it finds the outcome, or that it was used. */
async function finish({ state, code, error, issuer }: Returned, context: Answering): Promise<Page> {
  const { ports } = context;
  const taken = await ports.connections.use(hashOf(state), ports.clock.now());
  if (taken === undefined) return failedPage("the service", replayed);
  const outcome = await outcomeOf(taken, { code, error, issuer }, context);
  await ports.connections.finish(taken.id, outcome);
  return pageOf(outcome, taken);
}

async function outcomeOf(
  connection: StoredConnection,
  { code, error, issuer }: Omit<Returned, "state" | "confirm">,
  context: Context,
): Promise<ConnectionOutcome> {
  if (!(await mayFinish(connection, context.ports)))
    return {
      status: "failed",
      code: "other_user",
      message: "you no longer belong to the organization of this connection: nothing was connected",
    };
  if (error !== undefined) return { status: "failed", ...serviceProblem(error) };
  if (code === undefined)
    return { status: "failed", code: "service_error", message: "the service sent neither a code nor an error: start again" };
  return finishConnection(connection, { code, issuer }, context);
}

/** The text of an error is the service's: only known codes are shown. */
function serviceProblem(error: string): ConnectionProblem {
  if (error === "access_denied" || error === "user_cancelled_login" || error === "user_cancelled_authorize" || error === "consent_required")
    return {
      code: "access_denied",
      message: "you, or an administrator at the service, did not allow access: nothing was connected. Start again to choose otherwise",
    };
  if (error === "invalid_scope")
    return {
      code: "service_error",
      message: "the service does not know a scope, or the client may not request it (invalid_scope): correct the scopes, then start again",
    };
  if (error === "temporarily_unavailable" || error === "server_error")
    return { code: "service_error", message: `the service has a problem (${error}): start again later` };
  const shown = /^\w{1,60}$/.test(error) ? error : "an unknown error";
  return { code: "service_error", message: `the service refused the request (${shown}): check the OAuth client and its redirect address` };
}

const replayed: ConnectionProblem = {
  code: "expired",
  message: "this address was used before: it works once. If the account is not in your list, start again",
};
const expired: ConnectionProblem = {
  code: "expired",
  message: `signing in took longer than ${connectionMs / 60_000} minutes: start again`,
};
const otherSession: ConnectionProblem = {
  code: "other_session",
  message: "this connection was begun in another browser, or you have signed out since: nothing was connected. Start again in this browser",
};
const otherUser: ConnectionProblem = {
  code: "other_user",
  message: "this connection was begun by another user than the one who is signed in here: nothing was connected. Start it yourself",
};

const pageOf = (outcome: ConnectionOutcome, { request }: StoredConnection): Page =>
  outcome.status === "connected" ? connectedPage(request.appName, outcome.missingScopes) : failedPage(request.appName, outcome);

interface Viewer {
  readonly user: string;
  readonly session: string;
}

const sessionIdLength = 12;

/** Who is signed in to the console in this browser. */
async function viewerOf(request: Request, { ports, failures }: Answering): Promise<Viewer | undefined> {
  const token = sessionTokenOf(request, failures.clientOf(request).protocol);
  if (token === undefined || token === "") return undefined;
  const keyHash = await ports.sessions.findSession(hashOf(token), ports.clock.now());
  const user = keyHash === undefined ? undefined : await userOfKey(ports, keyHash);
  if (user === undefined) return undefined;
  return { user: user.id, session: hashOf(token).slice(0, sessionIdLength) };
}

const isSecondRequest = (request: Request): boolean => request.query["again"] === "1";

/** The same parameters, which a service may also have sent with a POST. */
function addressOfSecond({ state, code, error, issuer }: Returned): string {
  const parameters = new URLSearchParams({ state, again: "1" });
  for (const [name, value] of Object.entries({ code, error, iss: issuer })) if (value !== undefined) parameters.set(name, value);
  return `${callbackPath}?${parameters.toString()}`;
}

async function nameOf(user: string, { ports }: Context): Promise<string> {
  const found = await ports.accounts.findUser(user);
  return found === undefined ? user : `${found.username} (${found.email})`;
}

const showError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (!(error instanceof HeadwaterError) || response.headersSent) return next(error);
  const { html } = failedPage("the service", { message: error.message });
  response.status(error.status);
  response.type("html").send(html);
};
