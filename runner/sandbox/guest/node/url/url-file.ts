import { invalidArgument, nodeError } from "../errors.ts";
import { guest, type GuestUrl } from "../globals.ts";
import path from "../path/path.ts";

const urlOf = (value: unknown): GuestUrl => {
  if (typeof value === "string") return new guest.URL(value);
  if (value instanceof guest.URL) return value;
  throw invalidArgument("path", "of type string or an instance of URL", value);
};

export function fileURLToPath(value: unknown): string {
  const url = urlOf(value);
  if (url.protocol !== "file:") throw nodeError("ERR_INVALID_URL_SCHEME", "The URL must be of scheme file", TypeError);
  if (url.hostname !== "") throw nodeError("ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux', TypeError);
  if (/%2f/i.test(url.pathname))
    throw nodeError("ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters", TypeError);
  return decodeURIComponent(url.pathname);
}

export function pathToFileURL(value: string): GuestUrl {
  const absolute = path.resolve(value) + (value.endsWith("/") && value !== "/" ? "/" : "");
  const escapes: Record<string, string> = {
    "%": "%25",
    "\\": "%5C",
    "\n": "%0A",
    "\r": "%0D",
    "\t": "%09",
    "?": "%3F",
    "#": "%23",
  };
  return new guest.URL(`file://${absolute.replace(/[%\\\n\r\t?#]/g, (character) => escapes[character] ?? character)}`);
}

/** Options for `http.request` out of a URL. */
export function urlToHttpOptions(url: GuestUrl): Record<string, unknown> {
  const { hostname, port, username, password, protocol, hash, search, pathname, href } = url;
  return {
    ...url,
    protocol,
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    hash,
    search,
    pathname,
    path: `${pathname}${search}`,
    href,
    ...(port === "" ? {} : { port: Number(port) }),
    ...(username !== "" || password !== "" ? { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` } : {}),
  };
}
