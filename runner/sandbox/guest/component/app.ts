import { type Fields, functionsOf, isObject } from "./component.ts";

/**
 * An app prop: its bound methods and the account's credentials, which JSON.stringify and console.log skip. Methods read
 * other members of the app's definition by inheritance.
 */
export function bindApp(app: Fields, given: unknown): Fields {
  const self = Object.create(app) as Fields;
  const auth = isObject(given) && isObject(given["$auth"]) ? given["$auth"] : {};
  Object.defineProperty(self, "$auth", { value: auth });
  for (const [name, method] of functionsOf(app["methods"])) {
    const value: unknown = typeof method === "function" ? method.bind(self) : method;
    Object.defineProperty(self, name, { value, writable: true, enumerable: true, configurable: true });
  }
  return self;
}

/** Are both the same app? Also true if a component spread it into its own prop, or packages include it twice. */
export function isSameApp(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return false;
  if (one === other) return true;
  return one["type"] === "app" && other["type"] === "app" && one["app"] !== undefined && one["app"] === other["app"];
}
