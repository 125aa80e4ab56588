import type { Resource } from "../../crds/resource.ts";
import type { SourceSpec, SourceStatus } from "../../crds/source.ts";

export type SourceResource = Resource<SourceSpec, SourceStatus>;
