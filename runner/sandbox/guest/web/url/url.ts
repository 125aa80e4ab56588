import * as wrappers from "whatwg-url/webidl2js-wrapper.js";
import type { UrlConstructor, UrlSearchParamsConstructor } from "whatwg-url/webidl2js-wrapper.js";

// Not the package's main file, which also loads an unused validator.
function install(): { readonly URL: UrlConstructor; readonly URLSearchParams: UrlSearchParamsConstructor } {
  const realm: { URL?: UrlConstructor; URLSearchParams?: UrlSearchParamsConstructor } = {};
  Object.assign(realm, { Array, Object, Promise, String, TypeError });
  wrappers.URL.install(realm, ["Window"]);
  wrappers.URLSearchParams.install(realm, ["Window"]);
  const { URL, URLSearchParams } = realm;
  if (URL === undefined || URLSearchParams === undefined) throw new Error("whatwg-url installed no URL");
  return { URL, URLSearchParams };
}

const { URL, URLSearchParams } = install();

// Libraries read the code of Node's error for an invalid URL.
const UrlWithCode = new Proxy(URL, {
  construct(target, args, newTarget): object {
    try {
      return Reflect.construct(target, args, newTarget);
    } catch (error) {
      if (!(error instanceof TypeError) || !error.message.startsWith("Invalid ")) throw error;
      const [input, base] = args as unknown[];
      throw Object.assign(new TypeError("Invalid URL"), {
        code: "ERR_INVALID_URL",
        input: String(input),
        ...(base === undefined ? {} : { base: String(base) }),
      });
    }
  },
});
const href = Object.getOwnPropertyDescriptor(URL.prototype, "href");
Object.defineProperty(URL.prototype, "href", {
  ...href,
  set(this: object, value: unknown): void {
    try {
      href?.set?.call(this, value);
    } catch (error) {
      if (!(error instanceof TypeError) || !error.message.includes("Invalid URL")) throw error;
      throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: String(value) });
    }
  },
});
Object.defineProperty(URL.prototype, "constructor", { value: UrlWithCode, writable: true, configurable: true });

export { UrlWithCode as URL, URLSearchParams };
