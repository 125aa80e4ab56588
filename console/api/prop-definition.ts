import type { Prop } from "../../client/generated/operations.ts";

/** A prop of a component as its form needs it; the API returns all fields that the component's author wrote. */
export interface PropDefinition {
  readonly name: string;
  readonly type: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly isOptional: boolean;
  readonly default: unknown;
  readonly isSecret: boolean;
  readonly options: readonly Option[];
  /** The options are a function of the component, which the API calls. */
  readonly hasRemoteOptions: boolean;
  readonly reloadsProps: boolean;
  /** Slug of the app whose accounts fit. */
  readonly app: string | undefined;
  /** Text of an `alert`. */
  readonly content: string | undefined;
}

export interface Option {
  readonly label: string;
  readonly value: unknown;
}

/** A request for a page of the choices of a prop. */
export interface OptionsRequest {
  readonly prop: string;
  readonly page: number;
  readonly context: unknown;
  readonly query: string;
}

type Fields = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Hidden, disabled and static props have no field. */
export function propDefinitions(props: readonly Prop[]): readonly PropDefinition[] {
  return props
    .map((prop) => ({ ...(prop as unknown as Fields), ...prop }))
    .flatMap((fields: Fields & Prop) => {
      if (fields["hidden"] === true || fields["disabled"] === true || fields["static"] !== undefined || fields.type === "$.service.db")
        return [];
      const options = fields["options"];
      return [
        {
          name: fields.name,
          type: fields.type,
          label: textOf(fields["label"]) ?? fields.name,
          description: textOf(fields["description"]),
          isOptional: fields["optional"] === true,
          default: fields["default"],
          isSecret: fields["secret"] === true,
          options: Array.isArray(options) ? options.map(optionOf) : [],
          hasRemoteOptions: fields["remoteOptions"] === true,
          reloadsProps: fields["reloadProps"] === true,
          app: fields.type === "app" ? textOf(fields["app"]) : undefined,
          content: textOf(fields["content"]),
        },
      ];
    });
}

/** A value, or a value with a label. */
export function optionOf(option: unknown): Option {
  if (typeof option !== "object" || option === null || !("value" in option)) return { label: shown(option), value: option };
  const label = "label" in option ? textOf(option.label) : undefined;
  return { label: label ?? shown(option.value), value: option.value };
}

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Without a value the source cannot be deployed. */
export const needsValue = ({ type, isOptional, default: preset }: PropDefinition): boolean =>
  !isOptional && preset === undefined && !type.startsWith("$.") && type !== "alert";
