import { sourceSettings, type SourceSettings } from "../../crds/source.ts";

/**
 * Converts settings of a source between REST and the resource: the field `emit_on_deploy` of a request or response is the field
 * `emitOnDeploy` of the spec. A setting belongs to the REST API as soon as a schema of its requests or responses has its field.
 */
type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;
type Setting<Field> = Extract<CamelCase<Field & string>, keyof SourceSettings>;

type GivenSettings<Fields> = { readonly [Field in keyof Fields as Setting<Field>]?: Exclude<Fields[Field], undefined> };
type ShownSettings<Fields> = {
  readonly [Field in keyof Fields as Setting<Field> extends never ? never : Field]: Shown<SourceSettings, Setting<Field>>;
};
type Shown<Settings, Name extends keyof Settings> = undefined extends Settings[Name]
  ? Exclude<Settings[Name], undefined> | null
  : Settings[Name];

/** The settings that a request gives. Absent fields are left out. */
export function settingsIn<Fields extends object>(fields: Fields): GivenSettings<Fields> {
  const given = Object.entries(fields).flatMap(([field, value]) => {
    const setting = settingOf(field);
    return setting === undefined || value === undefined ? [] : [[setting, value]];
  });
  return Object.fromEntries(given) as GivenSettings<Fields>; // The loop is what the type says.
}

/** The settings that a response shows: those with a field in `shape`. Null: not set. */
export function settingsShown<Shape extends object>(shape: Shape, settings: SourceSettings): ShownSettings<Shape> {
  const shown = Object.keys(shape).flatMap((field) => {
    const setting = settingOf(field);
    return setting === undefined ? [] : [[field, settings[setting] ?? null]];
  });
  return Object.fromEntries(shown) as ShownSettings<Shape>; // The loop is what the type says.
}

function settingOf(field: string): keyof SourceSettings | undefined {
  return sourceSettings.safeParse(field.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())).data;
}
