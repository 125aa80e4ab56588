import { createRootRoute, createRoute, createRouter, retainSearchParams } from "@tanstack/react-router";
import { SignInPage } from "../pages/sign-in/page.tsx";
import { PageError, PageNotFound } from "./page-errors.tsx";
import { pageRoutes } from "./routes.ts";
import { parseSearch, stringifySearch, type SearchParams } from "../parts/search.ts";
import { Shell } from "./shell.tsx";

const validateSearch = (search: Readonly<Record<string, unknown>>): SearchParams =>
  Object.fromEntries(Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === "string"));

/** Every link keeps the organization whose resources the pages show. */
const root = createRootRoute({ validateSearch, search: { middlewares: [retainSearchParams(["org"])] }, notFoundComponent: PageNotFound });
const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });
const signIn = createRoute({ getParentRoute: () => root, path: "/sign-in", component: SignInPage });

const pages = pageRoutes.map(({ path, component }) =>
  createRoute({ getParentRoute: () => shell, path, component, errorComponent: PageError }),
);

export const router = createRouter({
  routeTree: root.addChildren([signIn, shell.addChildren(pages)]),
  parseSearch,
  stringifySearch,
  scrollRestoration: true,
  defaultPreload: "intent",
});
