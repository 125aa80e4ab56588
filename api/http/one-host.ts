import type { RequestHandler } from "express";
import { Malformed } from "../../domain/errors.ts";

/** Of several, a proxy in front may have read another one than we do (RFC 9112, section 3.2). Node refuses a request without any. */
export const refuseSeveralHosts: RequestHandler = ({ headersDistinct: { host = [] } }, _response, next) => {
  if (host.length > 1) throw new Malformed("the request has several Host headers: it must have one");
  next();
};
