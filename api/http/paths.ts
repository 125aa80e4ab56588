import type { RequestHandler } from "express";

/** A base URL that ends in a slash makes `//users/me` and `/v1//sources`: they are read with single slashes. */
export const collapseSlashes: RequestHandler = (request, _response, next) => {
  const [path = "", ...query] = request.url.split("?");
  // In an absolute target, `http://host/path`, two slashes belong to its form.
  if (path.startsWith("/") && path.includes("//")) request.url = [path.replaceAll(/\/{2,}/g, "/"), ...query].join("?");
  next();
};
