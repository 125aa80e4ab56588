import type { RequestHandler } from "express";

/** Collapses repeated slashes, as in `//users/me`: clients join paths to a base URL that ends with a slash. */
export const collapseSlashes: RequestHandler = (request, _response, next) => {
  const [path = "", ...query] = request.url.split("?");
  // An absolute target, `http://host/path`, contains two slashes.
  if (path.startsWith("/") && path.includes("//")) request.url = [path.replaceAll(/\/{2,}/g, "/"), ...query].join("?");
  next();
};
