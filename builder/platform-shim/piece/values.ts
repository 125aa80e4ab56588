import { entriesOf, isAuthProp, isFields, own, structured, type Fields, type Self } from "./contract.ts";
import { readFileProp } from "./files.ts";
import { dynamicValue, memberAuth, type Described } from "./props.ts";

/** The values of a member's props, in the types that it expects. */
export async function valuesOf(self: Self, { piece, member }: Described): Promise<Fields> {
  const values: Fields = {};
  for (const [name, prop] of entriesOf(member["props"])) {
    const type = own(prop, "type");
    if (type === "MARKDOWN") continue;
    const given = type === "DYNAMIC" ? dynamicValue(self, name, member) : self[name];
    values[name] = isAuthProp(prop) ? memberAuth(piece, prop, given) : await valueOf(given, prop);
  }
  return values;
}

async function valueOf(given: unknown, prop: unknown): Promise<unknown> {
  if (given === undefined || given === null || given === "") return given ?? undefined;
  switch (own(prop, "type")) {
    case "NUMBER":
      return typeof given === "string" ? Number(given) : given;
    case "JSON":
    case "OBJECT":
    case "MULTI_SELECT_DROPDOWN":
      return structured(given);
    case "ARRAY":
      return arrayOf(structured(given), own(prop, "properties"));
    case "FILE":
      return readFileProp(given);
    default:
      return given;
  }
}

async function arrayOf(given: unknown, properties: unknown): Promise<unknown> {
  const list = Array.isArray(given) ? given : [given];
  const inner = entriesOf(properties);
  if (inner.length === 0) return list;
  return Promise.all(list.map(async (item) => (isFields(item) ? itemOf(item, inner) : item)));
}

async function itemOf(item: Fields, properties: readonly [string, unknown][]): Promise<Fields> {
  const values = await Promise.all(properties.map(async ([name, prop]) => [name, await valueOf(item[name], prop)] as const));
  return { ...item, ...Object.fromEntries(values) };
}
