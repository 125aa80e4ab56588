import type { RequestHandler, Response } from "express";

/** Responses are data for programs: browsers must not render, frame, sniff or cache them. */
const headers: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export const securityHeaders: RequestHandler = (_request, response, next) => {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  next();
};

/** For Headwater's own pages: scripts and styles are files, and requests go only to this server. Swagger UI's icons are data URLs. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The console: its icons are parts of scripts, and no style is written into its HTML. */
const consolePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'";

export const consolePageHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader("content-security-policy", consolePolicy);
  next();
};

/** For a page that is one form, without scripts and styles. */
export function formPageHeaders(response: Response): void {
  response.setHeader("content-security-policy", "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
}

export const pageSecurityHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader("content-security-policy", pagePolicy);
  next();
};
