import type { RequestHandler } from "express";
import { Malformed } from "../../../domain/errors.ts";

/** A proxy may have read another of several Host headers (RFC 9112, section 3.2). Node refuses requests without one. */
export const refuseSeveralHosts: RequestHandler = ({ headersDistinct: { host = [] } }, _response, next) => {
  if (host.length > 1) throw new Malformed("the request has several Host headers: it must have one");
  next();
};
