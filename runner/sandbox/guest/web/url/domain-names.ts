import { sync } from "../../runtime/bridge.ts";

const asciiOnly = /^[\0-\x7f]*$/;
const punycode = /(^|\.)xn--/i;

/** Stands in for tr46: a name in ASCII is only lowered; for another one the host is asked. null when it is invalid. */
export function toASCII(domain: string): string | null {
  if (asciiOnly.test(domain) && !punycode.test(domain)) return domain.toLowerCase();
  const ascii = sync("domain_to_ascii", domain);
  return typeof ascii === "string" && ascii !== "" ? ascii : null;
}

/** whatwg-url asks only when it validates; the answer never shows in a URL. */
export function toUnicode(domain: string): { domain: string; error: boolean } {
  return { domain, error: false };
}
