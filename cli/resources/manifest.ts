import { usageFailure } from "../failure.ts";
import { objectsOf, recordOf } from "../values.ts";

export const apiVersion = "headwater.dev/v1alpha1";
export const idAnnotation = "headwater.dev/exported-id";
export type Spec = Readonly<Record<string, unknown>>;

/** A resource of a file. */
export interface Manifest {
  readonly kind: string;
  readonly name: string;
  /** Id that it had where it was exported. */
  readonly exportedId: string | undefined;
  readonly spec: Spec;
}

export interface Manifests {
  readonly resources: readonly Manifest[];
  /** Texts of Secrets and ConfigMaps of the same files, as `name/key`. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly configMaps: ReadonlyMap<string, string>;
}

/** The resources of YAML or JSON files, with the Secrets and ConfigMaps that they refer to. @throws Failure */
export async function readManifests(files: readonly string[]): Promise<Manifests> {
  const objects = (await Promise.all(files.map(objectsOf))).flat().flatMap(itemsOf);
  const resources = objects.filter(({ kind }) => kind !== "Secret" && kind !== "ConfigMap");
  return { resources: resources.map(parseManifest), secrets: textsOf(objects, "Secret"), configMaps: textsOf(objects, "ConfigMap") };
}

/** `kubectl get -o yaml` prints a List. */
const itemsOf = (object: Spec): Spec[] =>
  object["kind"] === "List" && Array.isArray(object["items"])
    ? object["items"].map((item) => recordOf(item, "an item of the List"))
    : [object];

function parseManifest({ apiVersion: version, kind, metadata, spec }: Spec): Manifest {
  const { name, annotations = {} } = recordOf(metadata ?? {}, "metadata");
  if (typeof kind !== "string" || typeof name !== "string") throw usageFailure("a resource has no kind or no metadata.name");
  if (version !== apiVersion)
    throw usageFailure(`${kind} ${name} has the apiVersion "${String(version)}"`, `write apiVersion: ${apiVersion}`);
  const exportedId = recordOf(annotations, "annotations")[idAnnotation];
  return {
    kind,
    name,
    exportedId: typeof exportedId === "string" ? exportedId : undefined,
    spec: recordOf(spec ?? {}, `spec of ${kind} ${name}`),
  };
}

function textsOf(objects: readonly Spec[], kind: string): ReadonlyMap<string, string> {
  return new Map(
    objects
      .filter((object) => object["kind"] === kind)
      .flatMap(({ metadata, data = {}, stringData = {} }) => {
        const name = String(recordOf(metadata ?? {}, "metadata")["name"]);
        const decode = (text: string): string => (kind === "Secret" ? Buffer.from(text, "base64").toString() : text);
        const encoded = Object.entries(recordOf(data, `data of ${kind} ${name}`)).map(
          ([key, text]) => [key, decode(String(text))] as const,
        );
        const plain = Object.entries(recordOf(stringData, `stringData of ${kind} ${name}`)).map(
          ([key, text]) => [key, String(text)] as const,
        );
        return [...encoded, ...plain].map(([key, text]) => [`${name}/${key}`, text] as const);
      }),
  );
}

/** A resource as a document. */
export const documentOf = ({ kind, name, exportedId, spec }: Manifest): unknown => ({
  apiVersion,
  kind,
  metadata: { name, ...(exportedId === undefined ? {} : { annotations: { [idAnnotation]: exportedId } }) },
  spec,
});
