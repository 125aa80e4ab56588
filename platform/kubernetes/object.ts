import { z } from "zod";

/** The metadata fields that we use; others are dropped, such as `managedFields`, which would double an object's memory. */
export const objectMetadata = z.object({
  name: z.string(),
  namespace: z.string().default(""),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.int().default(0),
  creationTimestamp: z.string(),
  deletionTimestamp: z.string().exactOptional(),
  finalizers: z.array(z.string()).default([]),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
  ownerReferences: z
    .array(
      z.object({
        apiVersion: z.string(),
        kind: z.string(),
        name: z.string(),
        uid: z.string(),
        controller: z.boolean().exactOptional(),
        blockOwnerDeletion: z.boolean().exactOptional(),
      }),
    )
    .exactOptional(),
});

/** Any object. Its other fields are parsed where the kind is known. */
export const kubernetesObject = z.looseObject({ metadata: objectMetadata });
export type KubernetesObject = z.infer<typeof kubernetesObject>;

const objectList = z.object({
  metadata: z.object({ resourceVersion: z.string(), continue: z.string().default("") }),
  // The server sends null for an empty PartialObjectMetadataList.
  items: z
    .array(z.unknown())
    .nullable()
    .transform((items) => items ?? []),
});
export type ObjectList = z.infer<typeof objectList>;

export const parseObject = (value: unknown): KubernetesObject => kubernetesObject.parse(value);
export const parseObjectList = (value: unknown): ObjectList => objectList.parse(value);
