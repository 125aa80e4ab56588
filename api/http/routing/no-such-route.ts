import type { RequestHandler } from "express";
import { NotFound } from "../../../domain/errors.ts";
import { nearestName } from "../../../domain/nearest-name.ts";
import type { Route } from "./operation.ts";

/** Longer paths are not misspellings of routes. */
const maxSegments = 8;

/** Answers 404 with the route that was probably meant. */
export function noSuchRoute(base: string, routes: readonly Route[]): RequestHandler {
  return ({ method, path }) => {
    const nearest = nearestRoute(method, path, base, routes);
    const hint = nearest === undefined ? `${base}/openapi.json lists the routes, /docs shows them` : `did you mean ${clip(nearest)}?`;
    throw new NotFound(`there is no ${method} ${clip(path)}: ${hint}`, { code: "no_such_route" });
  };
}

/**
 * Returns the route that an unknown path probably meant, as `GET /v1/sources/dc_x/runs` with the request's own ids, or undefined.
 * A segment may be misspelled, and the base of the API may be missing.
 */
function nearestRoute(method: string, path: string, base: string, routes: readonly Route[]): string | undefined {
  const asked = segmentsOf(path);
  const baseSegments = segmentsOf(base);
  if (asked.length > maxSegments) return undefined;
  const [best] = routes
    .flatMap((route) => {
      const pattern = [...baseSegments, ...segmentsOf(route.path)];
      const fits = [asked, [...baseSegments, ...asked]].map((segments) => fit(pattern, segments)).filter((found) => found !== undefined);
      return fits.map((found) => ({ ...found, method: route.method, edits: found.edits + (route.method === method ? 0 : 0.5) }));
    })
    .toSorted((a, b) => a.edits - b.edits);
  return best === undefined ? undefined : `${best.method} ${best.path}`;
}

const segmentsOf = (path: string): readonly string[] => path.split("/").filter((segment) => segment !== "");

/** The path with these segments, and the number of misspelled literals; undefined if it does not match the pattern. */
function fit(pattern: readonly string[], segments: readonly string[]): { readonly path: string; readonly edits: number } | undefined {
  if (pattern.length !== segments.length) return undefined;
  const found = pattern.map((literal, index) => {
    const segment = segments[index] ?? "";
    return literal.startsWith(":") ? segment : nearestName(segment, [literal]);
  });
  if (found.some((segment) => segment === undefined)) return undefined;
  return { path: `/${found.join("/")}`, edits: found.filter((segment, index) => segment !== segments[index]).length };
}

const clip = (text: string): string => text.slice(0, 200);
