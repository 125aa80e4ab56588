import { tag } from "../define.ts";

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const forbiddenInValue = /[\0\r\n]/;
const whitespaceAround = /^[\t\n\r ]+|[\t\n\r ]+$/g;

export type HeadersInit = Headers | Iterable<Iterable<unknown>> | Readonly<Record<string, unknown>>;
type Guard = "none" | "immutable";

/** Makes the headers of a network response immutable. */
export let freeze: (headers: Headers) => void;
/** Every value on its own, in the order the names were first set. */
export let pairsOf: (headers: Headers) => [string, string][];

/** Fetch Standard, section 5.1. Names are lower case, in order when iterated; `set-cookie` alone is never joined. */
export class Headers {
  readonly #values = new Map<string, string[]>();
  #guard: Guard = "none";

  constructor(init?: HeadersInit | null) {
    if (init === undefined) return;
    if (init === null || (typeof init !== "object" && typeof init !== "function"))
      throw new TypeError("Headers constructor: init given is not a sequence of pairs or a record.");
    fill(this, init);
  }

  append(name: string, value: string): void {
    const [key, text] = this.#checked(name, value, "append");
    const known = this.#values.get(key);
    if (known === undefined) this.#values.set(key, [text]);
    else known.push(text);
  }
  set(name: string, value: string): void {
    const [key, text] = this.#checked(name, value, "set");
    this.#values.set(key, [text]);
  }
  delete(name: string): void {
    this.#values.delete(this.#checked(name, "", "delete")[0]);
  }
  get(name: string): string | null {
    return this.#values.get(toName(name, "get"))?.join(separatorOf(toName(name, "get"))) ?? null;
  }
  has(name: string): boolean {
    return this.#values.has(toName(name, "has"));
  }
  getSetCookie(): string[] {
    return [...(this.#values.get("set-cookie") ?? [])];
  }
  forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    if (typeof callback !== "function")
      throw new TypeError("Failed to execute 'forEach' on 'Headers': parameter 1 is not of type 'Function'.");
    for (const [name, value] of this) Reflect.apply(callback, self, [value, name, this]);
  }
  *entries(): IterableIterator<[string, string]> {
    for (const name of [...this.#values.keys()].sort()) {
      const values = this.#values.get(name) ?? [];
      if (name !== "set-cookie") yield [name, values.join(separatorOf(name))];
      else for (const value of values) yield [name, value];
    }
  }
  *keys(): IterableIterator<string> {
    for (const [name] of this) yield name;
  }
  *values(): IterableIterator<string> {
    for (const [, value] of this) yield value;
  }
  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
  [Symbol.for("nodejs.util.inspect.custom")](): Record<string, string> {
    return Object.fromEntries(this);
  }

  #checked(name: unknown, value: unknown, method: string): [string, string] {
    const key = toName(name, method);
    const text = String(value).replace(whitespaceAround, "");
    if (forbiddenInValue.test(text) || /[^\0-\xff]/.test(text))
      throw new TypeError(`Headers.${method}: the value of "${key}" is an invalid header value.`);
    if (this.#guard === "immutable") throw new TypeError("immutable");
    return [key, text];
  }

  static {
    freeze = (headers) => {
      headers.#guard = "immutable";
    };
    pairsOf = (headers) => [...headers.#values].flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
  }
}

function toName(name: unknown, method: string): string {
  const text = String(name);
  if (!token.test(text)) throw new TypeError(`Headers.${method}: ${text} is an invalid header name.`);
  return text.toLowerCase();
}

function fill(headers: Headers, init: HeadersInit): void {
  if (init instanceof Headers) {
    for (const [name, value] of pairsOf(init)) headers.append(name, value);
    return;
  }
  if (isIterable(init)) {
    for (const pair of init) {
      const [name, value, ...more] = [...pair];
      if (value === undefined || more.length > 0) throw new TypeError("Headers constructor: expected name/value pair to be length 2");
      headers.append(String(name), String(value));
    }
    return;
  }
  for (const [name, value] of Object.entries(init)) headers.append(name, String(value));
}

function isIterable(init: object): init is Iterable<Iterable<unknown>> {
  return Symbol.iterator in init && typeof init[Symbol.iterator] === "function";
}

tag(Headers, "Headers");

/** Cookies are separated by `; ` as in a browser's header (RFC 6265, 4.2.1). */
const separatorOf = (name: string): string => (name === "cookie" ? "; " : ", ");
