const { defineProperty, entries, getOwnPropertyDescriptor } = Object;

/** Defines globals as the platform does: writable, configurable, not enumerable. */
export function defineGlobals(values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of entries(values)) define(globalThis, name, value);
}

/**
 * Defines globals exported by a module, which is evaluated when one of them is first read: most sources use few of
 * them, and each isolate would pay for all. As in Node, a read or an assignment makes it a plain property.
 */
export function defineLazyGlobals(load: () => Readonly<Record<string, unknown>>, names: readonly string[]): void {
  for (const name of names) defineLazyGlobal(name, load);
}

function defineLazyGlobal(name: string, load: () => Readonly<Record<string, unknown>>): void {
  const get = (): unknown => {
    const value = load()[name];
    if (typeof value === "function") nameAs(value, name);
    // Not if it was replaced in the meantime (user code may have kept this getter), nor if the global object was frozen.
    const present = getOwnPropertyDescriptor(globalThis, name);
    if (present?.get === get && present.configurable === true) define(globalThis, name, value);
    return value;
  };
  defineProperty(globalThis, name, {
    __proto__: null,
    configurable: true,
    enumerable: false,
    get,
    set(this: object | undefined, value: unknown): void {
      // An object that inherits from the global object gets its own property, as with a plain property.
      define(this ?? globalThis, name, value, this !== undefined && this !== globalThis);
    },
  } as PropertyDescriptor);
}

/** Without a prototype: lazy globals are defined after user code may have added a `get` to Object.prototype. */
function define(target: object, name: string, value: unknown, enumerable = false): void {
  defineProperty(target, name, { __proto__: null, value, writable: true, configurable: true, enumerable } as PropertyDescriptor);
}

/** Sets a class's name and the tag of `Object.prototype.toString`, which libraries test. */
export function tag(constructor: { readonly prototype: object; readonly name: string }, name: string): void {
  defineProperty(constructor.prototype, Symbol.toStringTag, { __proto__: null, value: name, configurable: true } as PropertyDescriptor);
  nameAs(constructor, name);
}

/** The bundler renames duplicate names (`URL3`), and libraries read `constructor.name`. */
function nameAs(named: { readonly name: string }, name: string): void {
  if (named.name !== name) defineProperty(named, "name", { __proto__: null, value: name, configurable: true } as PropertyDescriptor);
}
