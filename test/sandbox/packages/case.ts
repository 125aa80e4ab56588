/**
 * A package, a component that uses it, and the expected result. The tests run it, and docs/compatibility.md lists it. A failure is fixed in
 * runner/sandbox/guest for all packages, or the case says why the package is refused.
 */
export interface PackageCase {
  readonly package: string;
  /** Exact, so that the page says what was tried. What the package itself depends on is the newest that it allows. */
  readonly version: string;
  /** What was done, for the page. */
  readonly shows: string;
  /** Why it cannot do that here, and what to do instead; it works without one. */
  readonly refused?: string;
  /** Import statements; the package's version is written into them. */
  readonly imports: string;
  /** Body of `run`: `servers` (addresses) is in reach, what it returns is compared with `result`. */
  readonly body: string;
  /** Of one that is refused: a part of the error's message. */
  readonly result: unknown;
}

/** Addresses that components are given. */
export interface Servers {
  readonly http: string;
  readonly [name: string]: string | number;
}

/** The code of the component: `from "axios/x"` becomes `from "axios@1.2.3/x"`. */
export function codeOf({ package: name, version, imports, body }: PackageCase): string {
  const escaped = name.replaceAll(/[/.]/g, "\\$&");
  const pin = (text: string): string =>
    text.replaceAll(new RegExp(`((?:from|import|import\\()\\s*")${escaped}(/[^"]*)?"`, "g"), `$1${name}@${version}$2"`);
  return `${pin(imports)}\nexport default { name: "packages", async run({ servers }) { ${pin(body)} } };`;
}
