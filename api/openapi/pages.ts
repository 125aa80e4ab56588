import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import express, { type RequestHandler, type Router } from "express";
import { pageSecurityHeaders } from "../http/response/security-headers.ts";
import { aliasesOf, noAliases } from "../http/routing/aliases.ts";
import { otherMethods } from "../http/routing/mount.ts";
import { createApiDocument, describedOperations, type ApiDescription, type OperationGroups } from "./document.ts";

const publicApi: ApiDescription = {
  title: "Headwater",
  description: `Every request needs the header \`Authorization: Bearer <API key>\`.
Unknown fields and parameters are ignored, and \`warnings\` next to \`data\` names them. If \`include\` or \`exclude\` selects fields of \`data\`, the others are absent.`,
  base: "/v1",
  key: "An API key.",
};

const adminApi: ApiDescription = {
  title: "Headwater, administration",
  description:
    "For operators of the installation. Every request needs the header `Authorization: Bearer <admin token>`; API keys are not accepted.",
  base: "/admin/v1",
  key: "The admin token.",
};

const ownFiles = join(import.meta.dirname, "page");
const swaggerUi = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/swagger-ui-bundle.js"));

/** Files below `/docs`, by name, with their folder. The rest of the package is not served. */
const pageFiles: Readonly<Record<string, string>> = {
  "page.css": ownFiles,
  "page.js": ownFiles,
  "swagger-ui.css": swaggerUi,
  "swagger-ui-bundle.js": swaggerUi,
};

/**
 * Serves the OpenAPI document at `/v1/openapi.json`, and Swagger UI at `/docs`. Neither needs a key, because they show only what is public.
 */
export function documentPages(groups: OperationGroups): Router {
  const router = express.Router();
  router
    .route("/v1/openapi.json")
    .get(...documentOf(publicApi, groups))
    .all(otherMethods(["GET"]));
  router
    .route("/docs")
    .get(named("/docs"), pageSecurityHeaders, (_request, response) =>
      response.sendFile("index.html", { root: ownFiles, ...withoutCaching }),
    )
    .all(otherMethods(["GET"]));
  for (const [file, root] of Object.entries(pageFiles)) {
    router.get(`/docs/${file}`, named("/docs"), pageSecurityHeaders, (_request, response) =>
      response.sendFile(file, { root, ...withoutCaching }),
    );
  }
  return router;
}

/** The document of the admin API. Mount it behind the admin token, because its paths are not public. */
export function adminDocumentPage(groups: OperationGroups): Router {
  const router = express.Router();
  router
    .route("/openapi.json")
    .get(...documentOf(adminApi, groups))
    .all(otherMethods(["GET"]));
  return router;
}

function documentOf(api: ApiDescription, groups: OperationGroups): readonly [RequestHandler, RequestHandler] {
  let text: string | undefined;
  return [
    named(`${api.base}/openapi.json`),
    (_request, response) => {
      text ??= JSON.stringify(createApiDocument(api, describedOperations(groups, api === publicApi ? aliasesOf : noAliases)));
      response.type("json").send(text);
    },
  ];
}

/** Keeps the `cache-control: no-store` of every response. */
const withoutCaching = { cacheControl: false, etag: false, lastModified: false } as const;

const named =
  (route: string): RequestHandler =>
  (_request, response, next) => {
    response.locals["route"] = route;
    next();
  };
