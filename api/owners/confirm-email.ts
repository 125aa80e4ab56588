import express, { type ErrorRequestHandler, type Response, type Router } from "express";
import { HeadwaterError, Unauthenticated } from "../../domain/errors.ts";
import { limitFailures, type FailureLimit } from "../http/access/failure-limit.ts";
import { hashOf } from "../http/access/hash.ts";
import { formPageHeaders } from "../http/response/security-headers.ts";
import { otherMethods } from "../http/routing/mount.ts";
import type { ApiPorts } from "../ports.ts";

const path = "/confirm-email";
const tokenPattern = /^[\w-]{43}$/;

/**
 * The page of the link that confirms an address, for people without a key. Opening the link shows a button and changes nothing: mail
 * servers and previews open links too. The button posts the token.
 */
export function confirmEmailPage({ accounts }: Pick<ApiPorts, "accounts">, failures: Omit<FailureLimit, "needed">): Router {
  const router = express.Router();
  const confirm = limitFailures({ needed: "a valid link", ...failures }, async (request, response) => {
    const token: unknown = (request.body as Readonly<Record<string, unknown>> | undefined)?.["token"];
    const email = typeof token === "string" && tokenPattern.test(token) ? await accounts.confirmEmail(hashOf(token)) : undefined;
    if (email === undefined) throw ended();
    response.locals["email"] = email;
  });
  router.use(path, (_request, response, next) => {
    response.locals["route"] = path;
    formPageHeaders(response);
    next();
  });
  router
    .route(path)
    .get((request, response) => {
      const { token } = request.query;
      if (typeof token !== "string" || !tokenPattern.test(token)) throw ended();
      send(response, "Confirm your address", form(token));
    })
    .post(express.urlencoded({ limit: 1_024, extended: false }), confirm, (_request, response) => {
      send(response, "Your address is confirmed", "<p>Mails of Headwater can go there now. You can close this page.</p>");
    })
    .all(otherMethods(["GET", "POST"]));
  router.use(path, showError);
  return router;
}

const ended = (): Unauthenticated =>
  new Unauthenticated("this link was used before, was replaced by a later one, or has expired: request another one", {
    code: "link_ended",
  });

const showError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (!(error instanceof HeadwaterError) || response.headersSent) return next(error);
  response.status(error.status);
  send(response, "The address is not confirmed", `<p>${escaped(error.message)}</p>`);
};

/** @param token matches its pattern, so it needs no escaping */
const form = (token: string): string => `<p>Mails of Headwater go to your address once you confirm it.</p>
<form method="post" action="${path}"><input type="hidden" name="token" value="${token}"><button>Confirm the address</button></form>`;

function send(response: Response, title: string, body: string): void {
  response.type("html").send(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body><main><h1>${title}</h1>
${body}
</main></body></html>
`);
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
