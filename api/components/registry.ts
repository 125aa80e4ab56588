import { identityOf } from "../../domain/component-code.ts";
import { idOfCode, sha256 } from "../resources/components.ts";
import type { PublishedCode, PublishedComponent, Registry } from "./ports.ts";

/** Whose the ids of the registry are; no owner's id looks like this. */
const registryOwner = "registry";

/** The components that come with the installation, with ids that follow from their code. */
export function createRegistry(published: readonly PublishedCode[]): Registry {
  const components = published.map((component): PublishedComponent => {
    const releasedMs = Date.parse(component.released);
    return {
      ...component,
      id: idOfCode(registryOwner, sha256(identityOf(component))),
      codeHash: sha256(component.code),
      createdAtMs: releasedMs,
      updatedAtMs: releasedMs,
      isPublished: true,
    };
  });
  return new Map(components.map((component) => [component.key, component]));
}
