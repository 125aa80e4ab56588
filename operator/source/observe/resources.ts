import type { ComponentSpec, ComponentStatus } from "../../../crds/component.ts";
import type { Resource } from "../../../crds/resource.ts";
import type { SourceSpec, SourceStatus } from "../../../crds/source.ts";

export type SourceResource = Resource<SourceSpec, SourceStatus>;
export type ComponentResource = Resource<ComponentSpec, ComponentStatus>;
