import type { ComponentCode } from "../domain/component/component-code.ts";
import type { Build, ComponentDefinition } from "../domain/component/definition.ts";
import type { PackageListing } from "../domain/component/package-listing.ts";
import type { Warning } from "../domain/component/warning.ts";

/** The ports of the builder; the role's wiring provides the adapters. */
export interface BuilderPorts {
  readonly inspector: Inspector;
  readonly bundles: BundleStore;
  /** Confines installs. Absent: they have the rights of the builder, within Node's permission model. */
  readonly confine?: Confine | undefined;
}

/** The command that runs another one, confined by the kernel. */
export interface Confine {
  (rules: ConfineRules): readonly [string, ...string[]];
  /** The user that it runs as; undefined: that of the builder. */
  readonly user: number | undefined;
}

export interface ConfineRules {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** To which it may connect. */
  readonly tcpPorts: readonly number[];
  /** Names of its variables. */
  readonly environment: readonly string[];
  readonly command: readonly string[];
}

/** Reads a bundle's definition in the sandbox: user code never runs in the builder's own process. */
export interface Inspector {
  inspect(request: InspectRequest): Promise<Inspection>;
}

export interface InspectRequest {
  readonly bundle: {
    readonly hash: string;
    /** File of the bundle's text. */ readonly path: string;
    readonly needsNode: boolean;
  };
  /** The owner, among whom sandbox capacity is shared. */
  readonly owner?: string;
  readonly timeoutMs: number;
}

export type Inspection =
  | { readonly outcome: "read"; readonly definition: ComponentDefinition; readonly warnings?: readonly Warning[] }
  /** Line and column count from 1 and refer to the bundle; frames of `stack` likewise. */
  | {
      readonly outcome: "rejected";
      readonly code: string;
      readonly message: string;
      readonly prop?: string;
      readonly line?: number;
      readonly column?: number;
      readonly stack?: string;
    };

/**
 * Store from which runners read bundles. A bundle's name is the SHA-256 of its text, and `<SHA-256>.map` for its source map. So the
 * content of a name never changes, and storing it twice is harmless.
 */
export interface BundleStore {
  /** Is the bundle stored? If it is, it is kept for at least half an hour, even if nothing refers to it. */
  keep(hash: string): Promise<boolean>;
  /** Stores a bundle, and keeps it for as long. @throws QuotaExceeded `bundles_full` when the owner's share is used up; Unavailable */
  store(bundle: StoredBundle, owner: string): Promise<void>;
}

export interface StoredBundle {
  readonly hash: string;
  readonly text: Uint8Array;
  readonly map: Uint8Array;
}

/** A component of at most 200 files and 1 MiB of UTF-8 in all. */
export interface BuildRequest extends ComponentCode {
  /** Of the entry. `auto`, the default, goes by its name, else reads JavaScript and falls back to TypeScript. */
  readonly language?: "js" | "ts" | "auto";
  /** `Build.lockfile` of an earlier build: its versions and integrity hashes are used again. */
  readonly lockfile?: string | null;
  /** Owners take turns in the queue. Requests without an owner count as one owner. */
  readonly owner?: string;
}

/** Reads files at external addresses that the egress policy allows. */
export interface Addresses {
  /**
   * Follows redirects and applies the policy to each. Refuses addresses that are not http or https.
   * @throws InvalidInput, Forbidden, LimitExceeded when the text is larger than a component may be, Unavailable
   */
  read(url: string, signal: AbortSignal): Promise<AddressedText>;
}

export type AddressedText =
  /** `url`: the address after redirects. */
  | { readonly outcome: "found"; readonly url: string; readonly text: string }
  /** The server responded with a 4xx status. */
  | { readonly outcome: "missing"; readonly status: number };

/** The requests that a builder answers. */
export interface BuilderCalls {
  build(request: BuildRequest): Promise<Build>;
  /**
   * The component at an address, with the modules and package.json files that belong to it. For one of npm, `npm:…`, it is a module that
   * imports the component at the exact version.
   */
  collect(url: string, owner?: string): Promise<ComponentCode>;
  /** The components of a package of the npm registry. */
  listPackage(name: string, range: string | null, owner?: string): Promise<PackageListing>;
}

/** Receives requests for the builder and returns its answers. */
export interface BuildRequests {
  serve(calls: BuilderCalls): Promise<{ stop(): Promise<void> }>;
}
