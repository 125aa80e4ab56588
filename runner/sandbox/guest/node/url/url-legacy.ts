import { sync } from "../../runtime/bridge.ts";
import { invalidArgument, nodeError } from "../errors.ts";
import querystring from "./querystring.ts";

// The legacy `url.parse`, which also accepts relative URLs. Deprecated in Node, but widely used.

type Part = string | null;
const slashed = new Set(["http:", "https:", "ftp:", "gopher:", "file:", "ws:", "wss:"]);
// eslint-disable-next-line no-control-regex
const edges = /^[\0-\x20\xa0\ufeff]+|[\0-\x20\xa0\ufeff]+$/g;
const unsafe = /[\t\n\r "'<>\\^`{|}]/g;

export class Url {
  protocol: Part = null;
  slashes: boolean | null = null;
  auth: Part = null;
  host: Part = null;
  port: Part = null;
  hostname: Part = null;
  hash: Part = null;
  search: Part = null;
  query: string | Record<string, unknown> | null = null;
  pathname: Part = null;
  path: Part = null;
  href = "";

  parse(given: unknown, parseQuery = false, slashesDenoteHost = false): this {
    if (typeof given !== "string") throw invalidArgument("url", "of type string", given);
    const trimmed = given.replace(edges, "");
    const head = trimmed.split(/(?=[?#])/, 1)[0] ?? "";
    let rest = head.replaceAll("\\", "/") + trimmed.slice(head.length);
    const protocol = /^[a-z0-9.+-]+:/i.exec(rest)?.[0];
    if (protocol !== undefined) {
      this.protocol = protocol.toLowerCase();
      rest = rest.slice(protocol.length);
    }
    const opaque = this.protocol === "javascript:";
    if (!opaque && rest.startsWith("//") && (slashesDenoteHost || protocol !== undefined || /^\/\/[^@/]+@[^@/]+/.test(rest))) {
      this.slashes = true;
      rest = this.#authority(rest.slice(2));
    } else if (!opaque && this.protocol !== null && !slashed.has(this.protocol)) rest = this.#authority(rest);
    this.#tail(
      opaque ? rest : rest.replace(unsafe, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`),
      parseQuery,
    );
    this.href = this.format();
    return this;
  }

  /** Splits off user, host and port. The first character that a host cannot contain begins the path. */
  #authority(given: string): string {
    const end = given.search(/[/?#]/);
    const front = (end === -1 ? given : given.slice(0, end)).replace(/[\t\n\r]/g, "");
    const at = front.lastIndexOf("@");
    if (at !== -1) this.auth = decodeURIComponent(front.slice(0, at));
    const written = front.slice(at + 1);
    const odd = written.search(/[ "%';<>\\^`{|}]/);
    let host = odd === -1 ? written : written.slice(0, odd);
    let rest = (odd === -1 ? "" : written.slice(odd)) + (end === -1 ? "" : given.slice(end));
    const port = /:(\d*)$/.exec(host);
    if (port !== null) {
      if (port[1] !== "") this.port = port[1] ?? null;
      host = host.slice(0, port.index);
    }
    const v6 = host.startsWith("[") && host.endsWith("]");
    const colon = v6 ? -1 : host.indexOf(":");
    if (colon !== -1) throw nodeError("ERR_INVALID_ARG_VALUE", `The argument 'url' has an invalid port. Received '${given}'`, TypeError);
    this.hostname = this.#hostname(host.length > 255 ? "" : host.toLowerCase(), v6, given);
    this.host = this.hostname + (this.port === null ? "" : `:${this.port}`);
    if (v6) {
      this.hostname = this.hostname.slice(1, -1);
      if (!rest.startsWith("/")) rest = `/${rest}`;
    }
    return rest;
  }

  #hostname(host: string, v6: boolean, given: string): string {
    if (host === "") return "";
    // eslint-disable-next-line no-control-regex
    const name = !v6 && /[^\0-\x7f]/.test(host) ? String(sync("domain_to_ascii", host)) : host;
    // eslint-disable-next-line no-control-regex
    const forbidden = v6 ? /[\0\t\n\r #%/<>?@\\^|]/ : /[\0\t\n\r #%/:<>?@[\\\]^|]/;
    if (name === "" || forbidden.test(name)) throw Object.assign(nodeError("ERR_INVALID_URL", "Invalid URL", TypeError), { input: given });
    return name;
  }

  #tail(text: string, parseQuery: boolean): void {
    const hash = text.indexOf("#");
    if (hash !== -1) this.hash = text.slice(hash);
    const front = hash === -1 ? text : text.slice(0, hash);
    const mark = front.indexOf("?");
    if (mark !== -1) {
      this.search = front.slice(mark);
      this.query = parseQuery ? querystring.parse(this.search.slice(1)) : this.search.slice(1);
    } else if (parseQuery) this.query = Object.create(null) as Record<string, unknown>;
    const pathname = mark === -1 ? front : front.slice(0, mark);
    if (pathname !== "") this.pathname = pathname;
    if (this.protocol !== null && slashed.has(this.protocol) && this.hostname !== null && this.hostname !== "" && this.pathname === null)
      this.pathname = "/";
    if (this.pathname !== null || this.search !== null) this.path = (this.pathname ?? "") + (this.search ?? "");
  }

  format(): string {
    const auth = this.auth ? `${encodeURIComponent(this.auth).replaceAll(/%3A/gi, ":")}@` : "";
    let protocol = this.protocol ?? "";
    if (protocol !== "" && !protocol.endsWith(":")) protocol += ":";
    let host: string | null = null;
    if (this.host) host = auth + this.host;
    else if (this.hostname)
      host =
        auth +
        (this.hostname.includes(":") && !this.hostname.startsWith("[") ? `[${this.hostname}]` : this.hostname) +
        (this.port ? `:${this.port}` : "");
    const query = this.query !== null && typeof this.query === "object" ? querystring.stringify(this.query) : "";
    let search = this.search || (query === "" ? "" : `?${query}`);
    let pathname = this.pathname ?? "";
    let front = protocol;
    if (this.slashes || slashed.has(protocol)) {
      if (this.slashes || host) {
        if (pathname !== "" && !pathname.startsWith("/")) pathname = `/${pathname}`;
        front += `//${host ?? ""}`;
      } else if (protocol === "file:") front += "//";
    } else front += host ?? "";
    if (search !== "" && !search.startsWith("?")) search = `?${search}`;
    const hash = this.hash ? (this.hash.startsWith("#") ? this.hash : `#${this.hash}`) : "";
    return front + pathname.replace(/[?#]/g, encodeURIComponent) + search.replaceAll("#", "%23") + hash;
  }

  resolve(relative: string): string {
    return resolve(this.href, relative);
  }
  resolveObject(relative: string): Url {
    return new Url().parse(resolve(this.href, relative), false, true);
  }
}

function squeeze(path: string): string {
  const absolute = path.startsWith("/");
  const kept: string[] = [];
  const parts = path.split("/");
  for (const part of parts) {
    if (part === "..") {
      if (kept.length > (absolute ? 1 : 0) && kept.at(-1) !== "..") kept.pop();
      else if (!absolute) kept.push("..");
    } else if (part !== ".") kept.push(part);
  }
  const last = parts.at(-1);
  if ((last === "." || last === "..") && kept.at(-1) !== "") kept.push("");
  return kept.join("/");
}

/** `url.resolve(from, to)`, as a browser resolves a link. */
export function resolve(from: string, to: string): string {
  const base = new Url().parse(from, false, true);
  const link = new Url().parse(to, false, true);
  if (to === "") return Object.assign(base, { hash: null }).format();
  if (link.protocol !== null && (link.protocol !== base.protocol || !slashed.has(link.protocol))) return link.format();
  const result = Object.assign(new Url(), {
    protocol: base.protocol ?? link.protocol,
    slashes: base.slashes ?? link.slashes,
    hash: link.hash,
  });
  if (link.host)
    return Object.assign(result, {
      slashes: true,
      auth: link.auth,
      host: link.host,
      pathname: squeeze(link.pathname ?? "/"),
      search: link.search,
    }).format();
  Object.assign(result, { auth: base.auth, host: base.host });
  if (link.pathname === null) {
    const pathname = link.search === null && base.pathname !== null ? squeeze(base.pathname) : base.pathname;
    return Object.assign(result, { pathname, search: link.search ?? base.search }).format();
  }
  const folder = (base.pathname ?? "").replace(/[^/]*$/, "");
  const joined = link.pathname.startsWith("/") ? link.pathname : `${folder === "" && base.host ? "/" : folder}${link.pathname}`;
  return Object.assign(result, {
    pathname: squeeze(joined) || (joined.startsWith("/") ? "/" : ""),
    search: link.search,
  }).format();
}
