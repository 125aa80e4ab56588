import { sync } from "../../runtime/bridge.ts";

const asciiOnly = /^[\0-\x7f]*$/;
const punycode = /(^|\.)xn--/i;

/** Replaces tr46: lower-cases ASCII names, asks the host for others. null if invalid. */
export function toASCII(domain: string): string | null {
  if (asciiOnly.test(domain) && !punycode.test(domain)) return domain.toLowerCase();
  const ascii = sync("domain_to_ascii", domain);
  return typeof ascii === "string" && ascii !== "" ? ascii : null;
}

/** whatwg-url only calls this to validate; the result is not part of a URL. */
export function toUnicode(domain: string): { domain: string; error: boolean } {
  return { domain, error: false };
}
