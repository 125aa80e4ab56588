import { z } from "zod";

type Fields = Readonly<Record<string, unknown>>;

/** The names of the fields of a nested object, and of those within it. */
export interface NestedNames {
  readonly names: ReadonlySet<string>;
  /** Fields of responses, which clients send back. They have no effect, and are no mistake. */
  readonly sentBack: ReadonlySet<string>;
  readonly nested: ReadonlyMap<string, NestedNames>;
}

/** A field of a nested object that its operation does not know. */
export interface UnknownField {
  /** `steps.0.retires` */
  readonly path: string;
  readonly name: string;
  /** The names that would be known there. */
  readonly known: readonly string[];
}

/** The fields that responses have for an object of a request. */
export const answeredFields = z.registry<{ readonly fields: readonly string[] }>();

/** The objects among the fields of a body, by name: objects, and lists of them. Records, unions and unknown values take any field. */
export function nestedNames(body: z.ZodObject | undefined): ReadonlyMap<string, NestedNames> {
  return new Map(
    Object.entries(body?.shape ?? {}).flatMap(([name, field]): [string, NestedNames][] => {
      const object = objectOf(field);
      return object === undefined ? [] : [[name, namesOf(object)]];
    }),
  );
}

/** An object may contain objects of its own kind. */
const known = new WeakMap<z.ZodObject, NestedNames>();

function namesOf(object: z.ZodObject): NestedNames {
  const found = known.get(object);
  if (found !== undefined) return found;
  let nested: NestedNames["nested"] | undefined;
  const made = {
    names: new Set(Object.keys(object.shape)),
    sentBack: new Set(answeredFields.get(object)?.fields),
    get nested() {
      return (nested ??= nestedNames(object));
    },
  };
  known.set(object, made);
  return made;
}

/** The object that a schema describes, whether it is optional, transformed or an item of a list. */
function objectOf(schema: unknown): z.ZodObject | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return objectOf(schema.def.innerType);
  if (schema instanceof z.ZodPipe) return objectOf(schema.def.in) ?? objectOf(schema.def.out);
  if (schema instanceof z.ZodArray) return objectOf(schema.def.element);
  if (schema instanceof z.ZodLazy) return objectOf(schema.def.getter());
  return schema instanceof z.ZodObject && schema.def.catchall === undefined ? schema : undefined;
}

/** Collects unknown fields, up to a number. */
export interface UnknownFields {
  readonly found: UnknownField[];
  readonly max: number;
}

/**
 * Reads the nested objects of a body. Names in the resources' spelling are taken: `errorMails` is `error_mails`, unless both are given.
 * @param prefix path of the object, with a dot at the end; empty for the body
 */
export function readNested(given: Fields, nested: ReadonlyMap<string, NestedNames>, unknown: UnknownFields, prefix = ""): Fields {
  const read = [...nested].flatMap(([name, names]): [string, unknown][] =>
    Object.hasOwn(given, name) ? [[name, readValue(given[name], names, unknown, `${prefix}${name}`)]] : [],
  );
  return read.length === 0 ? given : { ...given, ...Object.fromEntries(read) };
}

function readValue(value: unknown, names: NestedNames, unknown: UnknownFields, path: string): unknown {
  if (Array.isArray(value)) return value.map((item, index) => readValue(item, names, unknown, `${path}.${index}`));
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Fields; // By the line above.
  const entries = Object.entries(fields).map(([name, each]) => [nameIn(names, name, fields, unknown, path), each] as const);
  return readNested(Object.fromEntries(entries), names.nested, unknown, `${path}.`);
}

function nameIn({ names, sentBack }: NestedNames, name: string, fields: Fields, { found, max }: UnknownFields, path: string): string {
  if (names.has(name) || sentBack.has(name)) return name;
  const ours = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (names.has(ours) && !Object.hasOwn(fields, ours)) return ours;
  if (found.length < max) found.push({ path: `${path}.${name}`, name, known: [...names] });
  return name;
}
