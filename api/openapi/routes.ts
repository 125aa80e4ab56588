import { join } from "node:path";
import express, { type RequestHandler, type Router } from "express";
import { otherMethods, type Route } from "../http/route-table.ts";
import { pageSecurityHeaders } from "../http/security-headers.ts";
import { adminApi, describeApi, publicApi, type DescribedApi } from "./document.ts";

const page = join(import.meta.dirname, "page");

/** For browsers `/` is a page that leads on; programs that take JSON get the answer that every unknown path has. The document of these routes is at `/v1/openapi.json`, and at `/docs` a page to read and try it. Neither asks for a key: both say what is public. */
export function documentRoutes(routes: readonly Route[]): Router {
  const router = express.Router();
  router.get("/", (request, response, next) => {
    if (request.accepts(["json", "html"]) !== "html") return next();
    pageSecurityHeaders(request, response, () => response.sendFile("start.html", { root: page, ...files }));
  });
  router
    .route("/v1/openapi.json")
    .get(...documentOf(publicApi, routes))
    .all(otherMethods(["GET"]));
  router
    .route("/docs")
    .get(named("/docs"), pageSecurityHeaders, (_request, response) => response.sendFile("index.html", { root: page, ...files }))
    .all(otherMethods(["GET"]));
  router.use("/docs", named("/docs"), pageSecurityHeaders, express.static(page, { ...files, index: false, redirect: false }));
  return router;
}

/** The document of the admin API, to be mounted behind what asks for the token: it names paths that are to be kept from the public. */
export function adminDocumentRoute(routes: readonly Route[]): Router {
  const router = express.Router();
  router
    .route("/openapi.json")
    .get(...documentOf(adminApi, routes))
    .all(otherMethods(["GET"]));
  return router;
}

function documentOf(api: DescribedApi, routes: readonly Route[]): readonly [RequestHandler, RequestHandler] {
  let text: string | undefined;
  return [
    named(`${api.base}/openapi.json`),
    (_request, response) => {
      text ??= JSON.stringify(describeApi(api, routes));
      response.type("json").send(text);
    },
  ];
}

/** Our own headers say what may be kept. */
const files = { cacheControl: false, etag: false, lastModified: false } as const;

const named =
  (route: string): RequestHandler =>
  (_request, response, next) => {
    response.locals["route"] = route;
    next();
  };
