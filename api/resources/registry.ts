import { identityOf } from "../../domain/component/component-code.ts";
import { idOfCode, sha256 } from "./components.ts";
import type { PublishedCode, PublishedComponent, Registry } from "../components/ports.ts";

/** Owner part of the registry's ids; no owner has this id. */
const registryOwner = "registry";

/** The registry's components, with ids derived from their code. */
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
