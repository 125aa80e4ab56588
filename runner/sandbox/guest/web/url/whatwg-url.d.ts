/** The package has no types of its own. `install` defines the class on a global object. */
declare module "whatwg-url/webidl2js-wrapper.js" {
  interface Wrapper {
    install(realm: object, globalNames: readonly string[]): void;
  }
  const urlWrapper: Wrapper;
  export { urlWrapper as URL, urlWrapper as URLSearchParams };
  export type UrlConstructor = typeof Url;
  export type UrlSearchParamsConstructor = typeof UrlSearchParams;

  class UrlSearchParams implements Iterable<[string, string]> {
    constructor(init?: unknown);
    readonly size: number;
    append(name: string, value: string): void;
    delete(name: string, value?: string): void;
    get(name: string): string | null;
    getAll(name: string): string[];
    has(name: string, value?: string): boolean;
    set(name: string, value: string): void;
    sort(): void;
    forEach(callback: (value: string, name: string, parent: UrlSearchParams) => void, self?: unknown): void;
    entries(): IterableIterator<[string, string]>;
    keys(): IterableIterator<string>;
    values(): IterableIterator<string>;
    [Symbol.iterator](): IterableIterator<[string, string]>;
    toString(): string;
  }
  class Url {
    constructor(url: string, base?: string);
    static canParse(url: string, base?: string): boolean;
    static parse(url: string, base?: string): Url | null;
    href: string;
    readonly origin: string;
    protocol: string;
    username: string;
    password: string;
    host: string;
    hostname: string;
    port: string;
    pathname: string;
    search: string;
    readonly searchParams: UrlSearchParams;
    hash: string;
    toString(): string;
    toJSON(): string;
  }
}
