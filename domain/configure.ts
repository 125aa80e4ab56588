import type { PropDefinition } from "./definition.ts";
import type { RunError } from "./run-error.ts";

/**
 * While somebody configures a component, functions of it are called: the `options` of a prop, `additionalProps` (specification,
 * "Component definition format"). Such a call is an invocation with the trigger `configure`: it wakes runners like any other, runs
 * without history and leaves no commit, and only whoever asked hears what came of it.
 */
export type ConfigureCall =
  | {
      readonly kind: "options";
      readonly prop: string;
      /** From 0. */
      readonly page: number;
      /** The `context` that the page before came with. */
      readonly prevContext?: unknown;
      /** What a person typed to search for, of props with `useQuery`. */
      readonly query?: string;
    }
  | {
      readonly kind: "props";
      /** The additional props that were shown before. */
      readonly previous?: readonly PropDefinition[];
    };

/** All that a runner needs for one call, in place of a deployment. */
export interface Configuration {
  readonly call: ConfigureCall;
  readonly owner: string;
  /** Public id of the component, `sc_…`, or of the source it is configured for: what its code reads as PD_COMPONENT. */
  readonly component: string;
  readonly bundle: string;
  readonly needsNode: boolean;
  /** Compact JWE, sealed for the pool: JSON object of all prop values by name, secrets and credentials of accounts among them. */
  readonly props: string;
  /** Names of those props whose values are secret; absent: none, or an earlier version asked. */
  readonly secretProps?: readonly string[];
  readonly additionalProps?: readonly BoundProp[];
  readonly endpoint: string | null;
  /** Epoch ms from which on nobody waits for it: then it is dropped without a call. */
  readonly deadline: number;
}

/** What an isolate must know of an additional prop to give `this` its value; the others it finds in the component. */
export interface BoundProp {
  readonly name: string;
  readonly type: string;
  /** App slug of an `app` prop. */
  readonly app?: string;
}

/** What came of a call. */
export type Configured = ConfiguredOptions | ConfiguredProps | { readonly outcome: "failed"; readonly error: RunError };

export interface ConfiguredOptions {
  readonly outcome: "options";
  /** Values, or `{label, value}`. */
  readonly options: readonly unknown[];
  /** To be given back as `prevContext` for the next page; null when there is none. */
  readonly context: unknown;
  /** There were more than {@link configureLimits} let through. */
  readonly truncated: boolean;
}

export interface ConfiguredProps {
  readonly outcome: "props";
  /** All props of the component: its own, as changed, and the additional ones. */
  readonly props: readonly PropDefinition[];
}

export const configureLimits = {
  /** From the request to the answer, a sleeping pool's waking included. */
  deadlineMs: 20_000,
  /** Of the call itself. */
  timeoutMs: 15_000,
  /** Options of one page, and characters of their JSON together; what is more is left out. */
  options: 5_000,
  optionsCharacters: 256 * 1024,
  contextCharacters: 64 * 1024,
  /** JSON of all prop definitions together, and their number. */
  propsCharacters: 256 * 1024,
  props: 500,
} as const;
