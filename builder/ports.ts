import type { ComponentCode } from "../domain/component/component-code.ts";
import type { Build, ComponentDefinition } from "../domain/component/definition.ts";
import type { Warning } from "../domain/component/warning.ts";

/** The ports of the builder; the role's wiring provides the adapters. */
export interface BuilderPorts {
  readonly inspector: Inspector;
  readonly bundles: BundleStore;
}

/** Reads a bundle's definition where hostile code may run: never in the builder's own process. The sandbox satisfies it. */
export interface Inspector {
  inspect(request: InspectRequest): Promise<Inspection>;
}

export interface InspectRequest {
  readonly bundle: {
    readonly hash: string;
    /** File of the bundle's text. */ readonly path: string;
    readonly needsNode: boolean;
  };
  /** Whose it is: places to compute in are shared out by owner. */
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
 * Where runners find bundles. Names are `<sha-256 of the text>` for a bundle and `<the same>.map` for its source map, so what
 * lies under a name never changes and putting twice is harmless.
 */
export interface BundleStore {
  has(name: string): Promise<boolean>;
  put(name: string, text: Uint8Array): Promise<void>;
}

/** A component of at most 200 files and 1 MiB of UTF-8 in all. */
export interface BuildRequest extends ComponentCode {
  /** Of the entry. `auto`, the default, goes by its name, else reads JavaScript and falls back to TypeScript. */
  readonly language?: "js" | "ts" | "auto";
  /** `Build.lockfile` of an earlier build: its versions and integrity hashes are used again. */
  readonly lockfile?: string | null;
  /** The owner it is built for: owners take turns. Requests without one share their turns. */
  readonly owner?: string;
}

/** Reads files at external addresses that the egress policy allows. */
export interface Addresses {
  /**
   * Follows redirects, judging each. What is no http or https address is refused.
   * @throws InvalidInput, Forbidden, LimitExceeded when the text is larger than a component may be, Unavailable
   */
  read(url: string, signal: AbortSignal): Promise<AddressedText>;
}

export type AddressedText =
  /** `url`: where it was found in the end. */
  | { readonly outcome: "found"; readonly url: string; readonly text: string }
  /** Answered with another status than 200, of the 4xx. */
  | { readonly outcome: "missing"; readonly status: number };

/** What is asked of a builder. */
export interface BuilderCalls {
  build(request: BuildRequest): Promise<Build>;
  /** The component at an address, with the modules and package.json files that belong to it. */
  collect(url: string, owner?: string): Promise<ComponentCode>;
}

/** Brings requests to the builder and takes answers back. */
export interface BuildRequests {
  serve(calls: BuilderCalls): Promise<{ stop(): Promise<void> }>;
}
