import type { FetchRequest } from "./request.ts";
import { coded, parseUrl } from "./request.ts";

const redirectStatuses = new Set([301, 302, 303, 307, 308]);
const credentials = new Set(["authorization", "cookie", "proxy-authorization"]);

/** The location of a redirect response, or undefined when it is none. */
export function redirectLocation(status: number, location: string | undefined): string | undefined {
  return redirectStatuses.has(status) ? location : undefined;
}

/**
 * The request that follows a redirect (WHATWG Fetch, "HTTP-redirect fetch"): POST becomes GET after 301 and 302, everything but
 * HEAD after 303; credentials do not go to another origin.
 */
export function followRedirect(request: FetchRequest, status: number, location: string): FetchRequest {
  const url = parseUrl(location, request.url);
  if (url.hash === "") url.hash = request.url.hash;
  const becomesGet =
    (status === 303 && !/^(GET|HEAD)$/.test(request.method)) || ((status === 301 || status === 302) && request.method === "POST");
  const crossesOrigin = url.origin !== request.url.origin;
  if (crossesOrigin && (url.username !== "" || url.password !== ""))
    throw coded(new TypeError("a redirect to another origin carries credentials in its URL"), "ERR_INVALID_URL");
  const headers = request.headers.filter(([given]) => {
    const name = given.toLowerCase();
    return !(crossesOrigin && credentials.has(name)) && !(becomesGet && name.startsWith("content-"));
  });
  if (!becomesGet) return { ...request, url, headers, path: undefined };
  return { ...request, url, headers, path: undefined, method: "GET", body: undefined };
}
