import { z } from "zod";
import { kinds } from "../../../crds/kinds.ts";
import { group, version } from "../../../crds/resource.ts";
import { objectMetadata } from "../object.ts";
import { pathOf } from "../paths.ts";

const savedMetadata = objectMetadata.pick({
  name: true,
  namespace: true,
  uid: true,
  generation: true,
  deletionTimestamp: true,
  finalizers: true,
  labels: true,
  annotations: true,
  ownerReferences: true,
});

/** An object of a backup, one JSON line each. Its other fields are stored as they are. */
export const savedObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: savedMetadata,
  status: z.unknown().optional(),
});
export type SavedObject = z.infer<typeof savedObject>;

interface SavedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
}

/** Our own kinds, of all namespaces. */
export const ownKinds: readonly SavedKind[] = kinds.map(({ kind, plural }) => ({ apiVersion: `${group}/${version}`, kind, plural }));
/** Saved in owners' namespaces: values of secret props and credentials, and code that sources read from there. */
export const ownersKinds: readonly SavedKind[] = [
  { apiVersion: "v1", kind: "Secret", plural: "secrets" },
  { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps" },
];
export const namespaceKind: SavedKind = { apiVersion: "v1", kind: "Namespace", plural: "namespaces" };

const allKinds = [...ownKinds, ...ownersKinds, namespaceKind];

export function collectionOf({ apiVersion, plural }: SavedKind, namespace = ""): string {
  const base = apiVersion === "v1" ? ["api", "v1"] : ["apis", ...apiVersion.split("/")];
  return pathOf([...base, ...(namespace === "" ? [] : ["namespaces", namespace]), plural]);
}

export const kindOf = ({ kind }: Pick<SavedObject, "kind">): SavedKind | undefined => allKinds.find((known) => known.kind === kind);
