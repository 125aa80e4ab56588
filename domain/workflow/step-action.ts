import type { ComponentDefinition } from "../component/definition.ts";

/**
 * Why a component cannot be the action of a step; undefined if it can. Code that is written for a step may omit its type, like code steps of
 * the known service, unless it has something that only sources have.
 */
export function whyNotAction({ name, type, hasNoType, dedupe, hooks, props }: ComponentDefinition): string | undefined {
  if (type === "action") return undefined;
  const interfaceProp = props.find((prop) => /^\$\.(interface|service)\./.test(prop.type));
  const isSource = hasNoType !== true || dedupe !== undefined || hooks.length > 0 || interfaceProp !== undefined;
  if (!isSource) return undefined;
  const why = interfaceProp === undefined ? "" : `, with the prop '${interfaceProp.name}' of type ${interfaceProp.type}`;
  return `component '${name}' is a source${why}: a step runs an action, a component with type: "action" and run({ steps, $ })`;
}
