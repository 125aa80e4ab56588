import type { Prop } from "../../client/generated/operations.ts";
import { printable } from "../output/printable.ts";

/** What a form reads of the definition of a prop; the API passes on all fields that the component's author wrote. */
export interface PropDefinition {
  readonly name: string;
  readonly type: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly isOptional: boolean;
  readonly isSecret: boolean;
  /** Choosing a value may add props. */
  readonly reloads: boolean;
  /** Options depend on what a person types. */
  readonly searches: boolean;
  readonly hasRemoteOptions: boolean;
  readonly options: readonly unknown[];
  readonly default: unknown;
  /** Slug of the app of an `app` prop. */
  readonly app: string | undefined;
  /** The component, the system or a default provides the value. */
  readonly needsNoValue: boolean;
}

const provided: ReadonlySet<string> = new Set("$.interface.http $.interface.apphook $.service.db data_store dir alert".split(" "));

export function definitionOf(prop: Prop): PropDefinition {
  const field = (name: string): unknown => (prop as Readonly<Record<string, unknown>>)[name]; // Any field of its definition.
  const text = (name: string): string | undefined => (typeof field(name) === "string" ? String(field(name)) : undefined);
  const { name, type } = prop;
  const isFixed = field("static") !== undefined && field("static") !== null;
  const isHidden = field("hidden") === true || field("disabled") === true;
  return {
    name,
    type,
    label: text("label") ?? name,
    description: text("description"),
    isOptional: field("optional") === true,
    isSecret: field("secret") === true,
    reloads: field("reloadProps") === true,
    searches: field("useQuery") === true,
    hasRemoteOptions: field("remoteOptions") === true,
    options: Array.isArray(field("options")) ? (field("options") as readonly unknown[]) : [],
    default: field("default") ?? undefined,
    app: type === "app" ? text("app") : undefined,
    needsNoValue: provided.has(type) || isFixed || isHidden,
  };
}

export const hasDefault = (prop: PropDefinition): boolean => prop.default !== undefined;

/** One choice of a prop: a value, or `{label, value}`. */
export function choiceOf(option: unknown): { readonly label: string; readonly value: unknown } {
  if (typeof option === "object" && option !== null && "value" in option) {
    const { value } = option;
    return { label: printable("label" in option && typeof option.label === "string" ? option.label : plain(value)), value };
  }
  return { label: printable(plain(option)), value: option };
}

const plain = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
