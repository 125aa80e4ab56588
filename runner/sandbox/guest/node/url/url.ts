import { sync } from "../../runtime/bridge.ts";
import { invalidArgument } from "../errors.ts";
import { guest, type GuestUrl } from "../globals.ts";
import { fileURLToPath, pathToFileURL, urlToHttpOptions } from "./url-file.ts";
import { resolve, Url } from "./url-legacy.ts";

interface FormatOptions {
  readonly auth?: boolean;
  readonly fragment?: boolean;
  readonly search?: boolean;
  readonly unicode?: boolean;
}

const isUrl = (value: unknown): value is GuestUrl => value instanceof guest.URL;

function parse(value: unknown, parseQuery?: boolean, slashesDenoteHost?: boolean): Url {
  return value instanceof Url ? value : new Url().parse(isUrl(value) ? value.href : value, parseQuery, slashesDenoteHost);
}

function format(value: unknown, options: FormatOptions = {}): string {
  if (typeof value === "string") return parse(value).format();
  if (isUrl(value)) return formatUrl(value, options);
  if (typeof value !== "object" || value === null) throw invalidArgument("urlObject", "of type object or string", value);
  return value instanceof Url ? value.format() : Object.assign(new Url(), value).format();
}

function formatUrl(url: GuestUrl, { auth = true, fragment = true, search = true, unicode = false }: FormatOptions): string {
  const copy = new guest.URL(url.href);
  if (!auth) Object.assign(copy, { username: "", password: "" });
  if (!fragment) copy.hash = "";
  if (!search) copy.search = "";
  return unicode && copy.hostname.includes("xn--") ? copy.href.replace(copy.hostname, domainToUnicode(copy.hostname)) : copy.href;
}

const domainToASCII = (domain: string): string => {
  const name = String(domain);
  return /^[a-z\d.-]*$/.test(name) ? name : String(sync("domain_to_ascii", name));
};
const domainToUnicode = (domain: string): string => String(sync("domain_to_unicode", String(domain)));

/** `node:url`: the old functions and the WHATWG classes. */
export default {
  parse,
  format,
  resolve,
  Url,
  domainToASCII,
  domainToUnicode,
  fileURLToPath,
  pathToFileURL,
  urlToHttpOptions,
  resolveObject: (from: string, to: string): Url => new Url().parse(resolve(from, to), false, true),
  fileURLToPathBuffer: (value: unknown): unknown => (guest["Buffer"] as { from(text: string): unknown }).from(fileURLToPath(value)),
  get URL(): unknown {
    return guest.URL;
  },
  get URLSearchParams(): unknown {
    return guest.URLSearchParams;
  },
};
