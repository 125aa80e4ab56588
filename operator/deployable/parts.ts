import type { Resource } from "../../crds/resource.ts";
import { reloadDigest } from "../configured/additional-props.ts";
import { isWritten } from "../configured/own-component.ts";
import type { DeployedUse } from "./deployable.ts";
import type { DeployableStep, WrittenStep } from "./step.ts";

/** Stores code of the resource's own as components; their builds are then deployed. @param uses whose code may be written */
export function planCode({ metadata }: Resource, uses: readonly DeployedUse[]): readonly WrittenStep<never>[] {
  return uses.flatMap(({ code, component, componentName: name, registryKey, url, isReadOnce }): readonly WrittenStep<never>[] => {
    if (code === undefined || "blocked" in code) return [];
    if (component?.metadata.deletionTimestamp !== undefined) return []; // It is created again once this one is gone.
    const generation = isReadOnce ? String(metadata.generation) : undefined;
    const own = { name, code: code.code, url, registryKey, generation };
    return component !== undefined && isWritten(own, component) ? [] : [{ do: "write-component", ...own, now: component }];
  });
}

/** Requests additional props before anything is deployed with them. */
export function planCalls(uses: readonly DeployedUse[]): readonly Extract<DeployableStep<never>, { do: "reload-props" }>[] {
  const calls = uses.flatMap((use) => {
    const digest = reloadDigest(use, use.component);
    return digest === undefined ? [] : [{ id: use.id, digest }];
  });
  return calls.length === 0 ? [] : [{ do: "reload-props", calls }];
}
