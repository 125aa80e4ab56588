/** `{"__lv": {label, value}}`, or `{"__lv": [{label, value}, …]}` for arrays; elements of an array may be labelled one by one. */
export function unlabel(value: unknown, keepLabel: boolean): unknown {
  if (Array.isArray(value)) return value.map((element) => unlabel(element, keepLabel));
  if (!isRecord(value) || !("__lv" in value)) return value;
  const labelled = value["__lv"];
  const plain = (each: unknown): unknown => (!keepLabel && isRecord(each) && "value" in each ? each["value"] : each);
  return Array.isArray(labelled) ? labelled.map(plain) : plain(labelled);
}

/** Props of these types cannot be objects, so a chosen option `{label, value}` is replaced by its value. */
const plainTypes: ReadonlySet<string> = new Set(["string", "integer", "boolean", "file"].flatMap((type) => [type, `${type}[]`]));

/** The plain value of a prop, in any of its forms. */
export function chosenValue(type: string, given: unknown, keepLabel: boolean): unknown {
  const value = unlabel(given, keepLabel);
  if (keepLabel || !plainTypes.has(type)) return value;
  const plain = (each: unknown): unknown => (isOption(each) ? each["value"] : each);
  return Array.isArray(value) ? value.map(plain) : plain(value);
}

function isOption(value: unknown): value is Readonly<Record<"value", unknown>> {
  return isRecord(value) && "value" in value && Object.keys(value).every((field) => field === "label" || field === "value");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
