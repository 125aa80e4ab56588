import type { Warning } from "./warning.ts";

/**
 * The definition of a component, read from its module inside an isolate: the component definition format of the
 * specification without its functions. `configurable_props` of the REST API is `props` with `name` first.
 */
export const componentTypes = ["source", "action"] as const;
export const dedupeStrategies = ["unique", "greatest", "last"] as const;
export type DedupeStrategy = (typeof dedupeStrategies)[number];

/** Scalar types that may carry the suffix `[]`. */
const arrayPropTypes = ["boolean", "integer", "string", "any", "object", "file"] as const;
const propTypes = [
  "app",
  "boolean",
  "integer",
  "string",
  "object",
  "any",
  "$.interface.http",
  "$.interface.timer",
  "$.interface.apphook",
  "$.service.db",
  "alert",
  "dir",
  "data_store",
  "file",
  "http_request",
  "sql",
] as const;

/** Types of app-specific pickers of the known service, `$.<app>.<what>`: here, any value. */
export const pickedPropType = /^\$\.(?!interface\.|service\.)[a-z]\w*\.[a-z]\w*(\[\])?$/i;
/** Known types of this kind. */
const pickedPropTypes = [
  "$.airtable.baseId",
  "$.airtable.tableId",
  "$.airtable.viewId",
  "$.airtable.fieldId",
  "$.discord.channel",
  "$.discord.channel[]",
  "$.discord.userId",
  "$.discord.userId[]",
] as const;

/** All prop types, except further app-specific pickers. */
export const knownPropTypes: readonly string[] = [...propTypes, ...arrayPropTypes.map((type) => `${type}[]`), ...pickedPropTypes];

export interface PropDefinition {
  readonly name: string;
  readonly type: string;
  readonly label?: string;
  readonly description?: string;
  readonly optional?: boolean;
  /** Any JSON value. */
  readonly default?: unknown;
  readonly secret?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly reloadProps?: boolean;
  /** Static options; a function becomes `remoteOptions: true`. */
  readonly options?: readonly unknown[];
  readonly remoteOptions?: boolean;
  readonly customResponse?: boolean;
  /** App slug of an `app` prop. */
  readonly app?: string;
  /** The value, fixed by the component's author. */
  readonly static?: unknown;
  /** Not shown, and not required. */
  readonly hidden?: boolean;
  /** Without effect, and not required. */
  readonly disabled?: boolean;
  /** useQuery, withLabel, readOnly, format, appProp, alertType, content … as written. */
  readonly [field: string]: unknown;
}

export interface ComponentDefinition {
  readonly name: string;
  readonly key?: string;
  readonly type: (typeof componentTypes)[number];
  readonly version?: string;
  readonly description?: string;
  readonly props: readonly PropDefinition[];
  readonly dedupe?: DedupeStrategy;
  readonly hooks: readonly ("deploy" | "activate" | "deactivate")[];
  readonly hasAdditionalProps: boolean;
  /** Its code gives no type: it is a source, or the code of a step. */
  readonly hasNoType?: true;
  /** Its `run` reads the event without checking that there is one. */
  readonly needsEvent?: true;
  /** Its `run` takes `{ steps, $ }`, as that of a step. */
  readonly takesStep?: true;
  /** It may be used as a step, but its `run` takes an event, as that of a source. */
  readonly takesEvent?: true;
  /** Its code never reads `$auth`, so its app props may be absent: apps such as feeds have no accounts. */
  readonly needsNoAccounts?: true;
}

/** Includes the additional props for certain values, if known. Otherwise values of undefined names may belong to such props. */
export function withAdditional(definition: ComponentDefinition, props: readonly PropDefinition[] | undefined): ComponentDefinition {
  if (!definition.hasAdditionalProps || props === undefined) return definition;
  return { ...definition, props, hasAdditionalProps: false };
}

/** The builder's result for a component's code. */
export interface Build {
  /** SHA-256, lower-case hex, of the raw UTF-8 code (`code_hash`). */
  readonly codeHash: string;
  /** Content address of the bundle in the object store: SHA-256, lower-case hex, of the bundle's text. */
  readonly bundle: string;
  readonly bundleBytes: number;
  /** The bundle names a Node built-in, Buffer or process, and needs the Node layer. */
  readonly needsNode: boolean;
  readonly definition: ComponentDefinition;
  /** npm lockfile (v3) of the installed packages; null without imports. Its integrity hashes pin rebuilds. */
  readonly lockfile: string | null;
  /** Probable mistakes of the author; absent if there are none. */
  readonly warnings?: readonly Warning[];
}
