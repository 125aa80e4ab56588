import type { Resource } from "../../crds/resource.ts";
import { keyOf, type Informer } from "../controller/informer.ts";
import { compareVersions } from "../controller/versions.ts";
import type { Mirrored } from "./rows.ts";

export interface Differences {
  /** Missing in the mirror, or older there. */
  readonly missing: readonly Resource[];
  /** In the mirror, but no longer in the cluster. */
  readonly surplus: readonly Mirrored[];
}

/** Compares the mirror with the cache. Rows newer than the cache were just written by the API and are kept. */
export function differences(
  known: ReadonlyMap<string, Mirrored>,
  informer: Pick<Informer<unknown, unknown>, "values" | "get" | "version">,
): Differences {
  const isOlder = (state: Mirrored | undefined, { metadata }: Resource): boolean =>
    state === undefined || compareVersions(state.resourceVersion, metadata.resourceVersion) < 0;
  const missing = [...informer.values()].filter((resource) => isOlder(known.get(keyOf(resource)), resource));
  const { version } = informer;
  const surplus = [...known].filter(
    ([key, state]) => informer.get(key) === undefined && version !== undefined && compareVersions(state.resourceVersion, version) <= 0,
  );
  return { missing, surplus: surplus.map(([, state]) => state) };
}
