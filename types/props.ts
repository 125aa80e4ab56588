import type { ActionFile } from "./action.ts";
import type { Database, DataStore, HttpInterface, HttpRequest, Timer } from "./interfaces.ts";

/** What a prop of each type is on `this`. */
export interface PropValues {
  string: string;
  integer: number;
  boolean: boolean;
  object: Readonly<Record<string, unknown>>;
  any: unknown;
  "string[]": readonly string[];
  "integer[]": readonly number[];
  "boolean[]": readonly boolean[];
  "object[]": readonly Readonly<Record<string, unknown>>[];
  "any[]": readonly unknown[];
  "$.service.db": Database;
  "$.interface.http": HttpInterface;
  "$.interface.timer": Timer;
  "$.interface.apphook": unknown;
  data_store: DataStore;
  file: ActionFile;
  "file[]": readonly ActionFile[];
  http_request: HttpRequest;
  sql: { readonly query: string; readonly params: readonly unknown[] };
  dir: { readonly path: string };
  alert: undefined;
  "$.airtable.baseId": string;
  "$.airtable.tableId": string;
  "$.airtable.viewId": string;
  "$.airtable.fieldId": string;
  "$.discord.channel": string;
  "$.discord.channel[]": readonly string[];
  "$.discord.userId": string;
  "$.discord.userId[]": readonly string[];
}
export type PropType = keyof PropValues;

export type Option = string | number | boolean | { readonly label: string; readonly value: unknown };

/** What an `options` function is asked for. */
export interface OptionsRequest {
  /** Counted from 0. */
  readonly page: number;
  /** The `context` of the page before. */
  // oxlint-disable-next-line typescript/no-explicit-any -- It is whatever the component gave.
  readonly prevContext: any;
  /** What the person has typed, for props with `useQuery`. */
  readonly query: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- The values that a `propDefinition` hands on.
  readonly [input: string]: any;
}
type OptionsAnswer = readonly Option[] | { readonly options: readonly Option[]; readonly context?: unknown };
/**
 * `this` is the app, or the component with what was chosen so far. It has no type: what it is made of is what is being defined here.
 */
// oxlint-disable-next-line typescript/no-explicit-any
type ListOptions = (this: any, request: OptionsRequest) => OptionsAnswer | Promise<OptionsAnswer>;

/** The fields that props of all types share. */
export interface PropFields {
  readonly label?: string;
  /** Markdown. */
  readonly description?: string;
  readonly optional?: boolean;
  readonly default?: unknown;
  /** The fixed value: users cannot configure it. */
  readonly static?: unknown;
  readonly options?: readonly Option[] | ListOptions;
  /** Choosing a value asks `additionalProps` again. */
  readonly reloadProps?: boolean;
  readonly hidden?: boolean;
  readonly disabled?: boolean;
  readonly readOnly?: boolean;
  readonly useQuery?: boolean;
  readonly withLabel?: boolean;
  readonly format?: string;
}

/** Fields that only props of one type have. */
interface OwnFields {
  string: { /** Kept encrypted, never shown again. */ readonly secret?: boolean };
  integer: { readonly min?: number; readonly max?: number; readonly default?: number };
  "integer[]": { readonly min?: number; readonly max?: number };
  boolean: { readonly default?: boolean };
  "$.interface.http": { /** The caller waits for `respond()`. */ readonly customResponse?: boolean };
  "$.interface.timer": { readonly default?: Timer };
  "$.interface.apphook": { readonly appProp?: string; readonly eventNames?: readonly string[] };
  alert: { readonly alertType?: string; readonly content?: string };
}

type TypedProp<T extends PropType> = { readonly type: T } & PropFields &
  (T extends keyof OwnFields ? OwnFields[T] : unknown) &
  (T extends "string" ? unknown : { readonly secret?: never }) &
  (T extends "integer" | "integer[]" ? unknown : { readonly min?: never; readonly max?: never });
type AnyTypedProp = { [T in PropType]: TypedProp<T> }[PropType];

/** An app, as `defineApp` gives it, or an object of the same form. */
export interface AppLike {
  readonly type: "app";
  readonly app: string;
  readonly propDefinitions?: object;
  readonly methods?: object;
}

/** `[app, name, inputs?]`: a prop that the app defines; fields beside it override the app's. */
type PropReference = Partial<PropFields> & {
  readonly propDefinition: readonly [app: AppLike, name: string, inputs?: unknown];
  readonly type?: PropType;
  readonly secret?: boolean;
  readonly min?: number;
  readonly max?: number;
};

export type Prop = PropType | AnyTypedProp | AppLike | PropReference;
export type Props = Readonly<Record<string, Prop>>;
/** What an app lets components refer to. */
export type PropDefinitions = Readonly<Record<string, AnyTypedProp | PropReference>>;

/** `this.<name>` of an app prop: its methods, and `$auth` with the fields of the account that was connected. */
export type AppInstance<Methods> = Readonly<Methods> & { readonly $auth: Readonly<Record<string, string>> };

type Maybe<P, V> = P extends { readonly optional: true } ? (P extends { readonly default: unknown } ? V : V | undefined) : V;
type Labelled<P, V> = P extends { readonly withLabel: true }
  ? V extends readonly (infer One)[]
    ? readonly { readonly label: string; readonly value: One }[]
    : { readonly label: string; readonly value: V }
  : V;

/** What one prop is on `this`. */
export type PropValue<P> = P extends PropType
  ? PropValues[P]
  : P extends { readonly propDefinition: readonly [infer A, infer Name, ...unknown[]] }
    ? Referred<A, Name, P>
    : P extends { readonly type: "app" }
      ? AppInstance<P extends { readonly methods: infer M } ? M : unknown>
      : P extends { readonly type: infer T extends PropType }
        ? Maybe<P, Labelled<P, PropValues[T]>>
        : unknown;

type Referred<A, Name, P> = A extends { readonly propDefinitions: infer D }
  ? Name extends keyof D
    ? PropValue<Omit<D[Name], Exclude<keyof P, "propDefinition">> & Omit<P, "propDefinition">>
    : never
  : unknown;

/** Of a component without props `P` is all that props can be, and `this` has none. */
export type PropsValues<P> = string extends keyof P ? unknown : { readonly [Name in keyof P]: PropValue<P[Name]> };

/** The type that a prop is written with. */
export type TypeOf<P> = P extends string ? P : P extends { readonly type: infer T } ? T : undefined;
