import { unlabel } from "./labelled-value.ts";
import { isId } from "../ids.ts";

const resourceName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/**
 * The store in the value of a prop: its id alone, or `{"storeId": …}` with the id or the name of the resource. A name alone is none: a
 * text of another prop must not give access to a store.
 */
export function storeOf(given: unknown): string | undefined {
  const value = unlabel(given, false);
  if (typeof value === "string") return isId("dataStore", value) ? value : undefined;
  if (typeof value !== "object" || value === null || !("storeId" in value)) return undefined;
  const { storeId } = value;
  return typeof storeId === "string" && (isId("dataStore", storeId) || resourceName.test(storeId)) ? storeId : undefined;
}

/** The stores among the values of props, by prop; undefined: none. */
export function storesAmong(values: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> | undefined {
  const found = Object.entries(values).flatMap(([prop, value]) => {
    const store = storeOf(value);
    return store === undefined ? [] : [[prop, store] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
