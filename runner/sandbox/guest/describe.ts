import { type Fields, functionsOf, isObject, resolveProps } from "./component.ts";

/**
 * What the component says of itself, as JSON text: props resolved, functions left out, nothing judged. The host checks types and
 * names, where rules can change without a new guest.
 */
export function describeComponent(component: unknown): string {
  if (!isObject(component)) return JSON.stringify({ found: typeof component });
  return JSON.stringify({
    found: "component",
    name: component["name"],
    key: component["key"],
    type: component["type"],
    version: component["version"],
    description: component["description"],
    dedupe: component["dedupe"],
    hasRun: typeof component["run"] === "function",
    hasAdditionalProps: typeof component["additionalProps"] === "function",
    hooks: functionsOf(component["hooks"])
      .filter(([, hook]) => typeof hook === "function")
      .map(([name]) => name),
    props: describeProps(resolveProps(component)),
  });
}

/** The definitions of props as JSON has them, each with its name. */
export function describeProps(props: readonly (readonly [name: string, prop: Fields])[]): Fields[] {
  return props.map(([name, prop]) => ({ ...describeProp(prop), name }));
}

/** Of an app prop the rest of its fields is the app's code and none of a person's business, but may be anything at all. */
const hidden: ReadonlySet<string> = new Set(["propDefinition", "propDefinitions", "methods"]);

function describeProp(prop: Fields): Fields {
  const described: Fields = {};
  for (const [field, value] of Object.entries(prop)) {
    if (hidden.has(field)) continue;
    if (typeof value !== "function") setJson(described, field, value);
    else if (field === "options") described["remoteOptions"] = true;
  }
  if (described["options"] !== undefined) delete described["remoteOptions"];
  return described;
}

/** What JSON cannot hold (a circle, a BigInt) says nothing to whoever reads it; a definition must not fail for an unknown field. */
function setJson(described: Fields, field: string, value: unknown): void {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text !== undefined) described[field] = JSON.parse(text);
  } catch {
    return;
  }
}
