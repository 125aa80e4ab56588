import type { ComponentDefinition, PropDefinition } from "./definition.ts";
import type { RunError } from "../run-products.ts";

/**
 * While a user configures a component, functions of it are called: the `options` of a prop, `additionalProps` (specification,
 * "Component definition format"). Such a call is an invocation with the trigger `configure`: it wakes runners like any other, runs
 * without history and commits nothing, and only the caller gets the result.
 */
export type ConfigureCall =
  | {
      readonly kind: "options";
      readonly prop: string;
      /** From 0. */
      readonly page: number;
      /** The `context` of the previous page. */
      readonly prevContext?: unknown;
      /** The user's search text, for props with `useQuery`. */
      readonly query?: string;
    }
  | {
      readonly kind: "props";
      /** The additional props shown before. */
      readonly previous?: readonly PropDefinition[];
    };

/** Everything that a runner needs for one call, instead of a deployment. */
export interface Configuration {
  readonly call: ConfigureCall;
  readonly owner: string;
  /** Public id of the component, `sc_…`, or of the source being configured: PD_COMPONENT in its code. */
  readonly component: string;
  readonly bundle: string;
  readonly needsNode: boolean;
  /** Compact JWE, sealed for the pool: JSON object of all prop values by name, including secrets and credentials of accounts. */
  readonly props: string;
  /** Names of secret props; absent: none, or the caller is an earlier version. */
  readonly secretProps?: readonly string[];
  readonly additionalProps?: readonly BoundProp[];
  readonly endpoint: string | null;
  /** Deadline of the caller, epoch ms: after it, the call is dropped. */
  readonly deadline: number;
}

/** What an isolate needs of an additional prop to set its value on `this`; other props are in the component. */
export interface BoundProp {
  readonly name: string;
  readonly type: string;
  /** App slug of an `app` prop. */
  readonly app?: string;
}

/** Props that the isolate must be given, because the component's code does not declare them with this type. */
export function boundProps(own: ComponentDefinition, all: readonly PropDefinition[]): readonly BoundProp[] {
  const types = new Map(own.props.map(({ name, type }) => [name, type]));
  return all
    .filter(({ name, type }) => types.get(name) !== type)
    .map(({ name, type, app }) => ({ name, type, ...(app === undefined ? {} : { app }) }));
}

/** Result of a call. */
export type Configured = ConfiguredOptions | ConfiguredProps | { readonly outcome: "failed"; readonly error: RunError };

export interface ConfiguredOptions {
  readonly outcome: "options";
  /** Values, or `{label, value}`. */
  readonly options: readonly unknown[];
  /** The `prevContext` of the next page; null if there is none. */
  readonly context: unknown;
  /** There were more than {@link configureLimits} allow. */
  readonly truncated: boolean;
}

export interface ConfiguredProps {
  readonly outcome: "props";
  /** All props of the component: its own, possibly changed, and the additional ones. */
  readonly props: readonly PropDefinition[];
}

export const configureLimits = {
  /** From the request to the response, including the start of an idle pool. */
  deadlineMs: 20_000,
  /** Duration of the call itself. */
  timeoutMs: 15_000,
  /** Options of one page, and characters of their JSON in total; more are omitted. */
  options: 5_000,
  optionsCharacters: 256 * 1024,
  contextCharacters: 64 * 1024,
  /** JSON of all prop definitions in total, and their number. */
  propsCharacters: 256 * 1024,
  props: 500,
} as const;
