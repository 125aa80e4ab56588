import { configurablePropsResponse } from "../../domain/component/prop-responses.ts";
import type { ListedComponent, ListedPublication, Publication, PublishedComponent } from "../resources/library/ports.ts";
import { sha256, type ComponentResource, type DraftComponent } from "../resources/components.ts";
import type { Answered } from "../http/response/answered.ts";
import type { componentSchema, listedComponentSchema, publishedComponentSchema, publishedVersionSchema } from "./schemas.ts";
import { readText } from "../resources/stored-fields.ts";
import { pinnedPackage } from "../../domain/component/npm-origin.ts";
import { createdAt, epochSeconds, publicIdOf } from "../resources/identity.ts";

/** An item of a list, for which the code is not read. */
export function listedComponentResponse({
  id,
  definition,
  codeHash,
  createdAtMs,
  updatedAtMs,
  isPublished,
}: ListedComponent): Answered<typeof listedComponentSchema> {
  const { name, key = null, version = null, description = null, type } = definition;
  return {
    id,
    key,
    code_hash: codeHash,
    name,
    version,
    description,
    type,
    configurable_props: configurablePropsResponse(definition),
    registry: isPublished,
    created_at: epochSeconds(createdAtMs),
    updated_at: epochSeconds(updatedAtMs),
  };
}

/** An item of the list of a component's versions. */
export const publishedVersionResponse = (version: ListedPublication): Answered<typeof publishedVersionSchema> => ({
  ...listedComponentResponse(version),
  deprecated: version.deprecated,
});

/** A component of the registry, in the shape of a saved one. */
export function publishedComponentResponse(component: PublishedComponent | Publication): Answered<typeof publishedComponentSchema> {
  const { id, key, code, entry, files, codeHash, definition, createdAtMs, updatedAtMs } = component;
  return {
    id,
    key,
    code,
    entry: entry ?? null,
    files: Object.keys(files ?? {}).sort(),
    code_hash: codeHash,
    name: definition.name,
    version: definition.version ?? null,
    configurable_props: configurablePropsResponse(definition),
    origin: null,
    deprecated: "deprecated" in component ? component.deprecated : null,
    created_at: epochSeconds(createdAtMs),
    updated_at: epochSeconds(updatedAtMs),
  };
}

/** A saved component (specification, "Component"), with the names of the files beside its code; `name` and `version` are null until it is built. */
export function componentResponse(component: ComponentResource): Answered<typeof componentSchema> {
  const { build, updatedAt } = component.status;
  const created = createdAt(component);
  const code = readText(component.spec.code) ?? "";
  return {
    id: publicIdOf(component),
    code,
    entry: readText(component.spec.entry) ?? null,
    files: Object.keys(component.spec.files ?? {}).sort(),
    code_hash: build?.codeHash ?? sha256(code),
    name: build?.definition.name ?? null,
    version: build?.definition.version ?? null,
    configurable_props: build === undefined ? [] : configurablePropsResponse(build.definition),
    origin: originResponse(component.spec.url, code),
    created_at: created,
    updated_at: updatedAt === undefined ? created : epochSeconds(updatedAt),
  };
}

/** A component that was built, and not saved. */
export function draftComponentResponse(
  { id, code, build }: DraftComponent,
  url: string | undefined,
  nowMs: number,
): Answered<typeof componentSchema> {
  const now = epochSeconds(nowMs);
  return {
    id,
    code: code.code,
    entry: code.entry ?? null,
    files: Object.keys(code.files ?? {}).sort(),
    code_hash: sha256(code.code),
    name: build.definition.name,
    version: build.definition.version ?? null,
    configurable_props: configurablePropsResponse(build.definition),
    origin: originResponse(url, code.code),
    created_at: now,
    updated_at: now,
  };
}

/** The package of a component from npm, which its module names. */
function originResponse(url: string | undefined, code: string): Answered<typeof componentSchema>["origin"] {
  const pinned = pinnedPackage(code);
  if (pinned === undefined || url === undefined) return null;
  return { url, package: pinned.name, version: pinned.version, integrity: pinned.integrity };
}
