import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import { consolePageHeaders } from "../http/response/security-headers.ts";

/** What `npm run console` builds from console/. */
const built = join(import.meta.dirname, "..", "..", "console", "dist");

/** First segments of the console's addresses. Below them, only requests of browsers get the page: programs call other routes there. */
const places = [
  "",
  "sources",
  "webhooks",
  "subscriptions",
  "workflows",
  "accounts",
  "organization",
  "admin",
  "operations",
  "profile",
  "sign-in",
];

const encodings = { br: ".br", gzip: ".gz" } as const;

/** Below these, addresses are those of the API, also for people who open them in a browser. */
const ofTheApi = /^\/(v1|admin\/v1)(\/|$)/;

/** For a browser, any other unknown address is the console's page, which says so; programs get the 404 of every unknown path. */
export const unknownPage: RequestHandler = (request, response, next) => {
  const isPage = (request.method === "GET" || request.method === "HEAD") && !ofTheApi.test(request.path) && isForBrowser(request);
  if (!isPage) return next();
  response.locals["route"] = "/console";
  response.status(404);
  consolePageHeaders(request, response, () => sendPage(response, next));
};

/** Programs that accept JSON, streams or anything get the routes of the API. */
const isForBrowser = (request: Request): boolean => request.accepts(["json", "text/event-stream", "html"]) === "html";

/** Serves the console: one page for all of its addresses, and its files, whose names contain a hash of their content. */
export function consolePages(): Router {
  const router = express.Router();
  router.get(
    places.flatMap((place) => (place === "" ? ["/"] : [`/${place}`, `/${place}/*rest`])),
    (request, response, next) => {
      if (!isForBrowser(request)) return next();
      response.locals["route"] = "/console";
      consolePageHeaders(request, response, () => sendPage(response, next));
    },
  );
  router.get("/assets/:name", (request, response, next) => {
    const name = request.params["name"] ?? "";
    if (!/^[\w.-]+$/.test(name) || !existsSync(join(built, "assets", name))) return next();
    response.locals["route"] = "/assets";
    const accepted = request.acceptsEncodings(["br", "gzip"]);
    const suffix = accepted === "br" || accepted === "gzip" ? encodings[accepted] : "";
    const isCompressed = suffix !== "" && existsSync(join(built, "assets", name + suffix));
    if (isCompressed && accepted !== false) response.setHeader("content-encoding", accepted);
    response.setHeader("vary", "accept-encoding");
    response.setHeader("cache-control", "public, max-age=31536000, immutable");
    response.type(extname(name));
    response.sendFile(isCompressed ? name + suffix : name, {
      root: join(built, "assets"),
      cacheControl: false,
      etag: false,
      lastModified: false,
    });
  });
  return router;
}

function sendPage(response: Response, next: Parameters<RequestHandler>[2]): void {
  if (existsSync(join(built, "index.html")))
    response.sendFile(
      "index.html",
      { root: built, cacheControl: false, etag: false, lastModified: false },
      (error?: Error) => error && next(error),
    );
  else
    response.status(503).type("text").send("The console is not built here. Build it with `npm run console`, then load this page again.\n");
}
