import { z } from "zod";
import { matching, type Rule } from "./rules.ts";

export const group = "headwater.dev";
export const version = "v1alpha1";
export const apiVersion = `${group}/${version}`;

export const namePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
export const nameMessage = "a name has at most 63 lower-case letters, digits and dashes, and begins and ends with a letter or digit";

/** A Kubernetes name: an RFC 1123 label. */
export const resourceName = matching(namePattern, 63, nameMessage);

export const condition = z.object({
  type: z
    .enum(["Ready", "Reconciling", "Stalled", "AccountsConnected"])
    .describe(
      "Ready: the resource is in the state that its spec describes. Reconciling: Headwater is working on it. Stalled: it needs a change by you to continue. AccountsConnected: of a source or workflow; False: a person must connect an account again.",
    ),
  status: z.enum(["True", "False", "Unknown"]).describe("Whether the condition holds."),
  reason: z.string().describe("One word in CamelCase for programs; docs/operations.md says what each means."),
  message: z.string().describe("What is wrong and how to fix it, for people."),
  lastTransitionTime: dateTime().describe("When `status` last changed, RFC 3339."),
  observedGeneration: z.int().describe("The `metadata.generation` that the condition describes."),
});
export type Condition = z.infer<typeof condition>;

/** The status fields of every kind. */
export const baseStatus = z.object({
  id: z.string().optional().describe("Public id, as in the REST API."),
  observedGeneration: z
    .int()
    .optional()
    .describe("The `metadata.generation` that the status describes. If it is older, the operator has not seen the last change yet."),
  conditions: z
    .array(condition)
    .optional()
    .meta({
      description: "Current conditions, one entry per type.",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
    }),
});

/** The current problem in a status. */
export const statusProblem = z.object({
  code: z.string().describe("Stable, in snake_case: docs/api.md lists the codes; or the reason of `Ready` or `AccountsConnected`."),
  message: z.string().describe("What is wrong, for people."),
  since: dateTime().describe("Start of the problem, RFC 3339."),
});

/** A time as a string, RFC 3339. */
export function dateTime(): z.ZodString {
  return z.string().meta({ format: "date-time" });
}

export interface Metadata {
  readonly name: string;
  /** One namespace per owner: `hw-…`; labelled with the owner's id. */
  readonly namespace: string;
  readonly uid: string;
  /** Opaque outside the store; orders changes within it. */
  readonly resourceVersion: string;
  /** Grows by one with each change of the spec, and when deletion begins. */
  readonly generation: number;
  /** RFC 3339. */
  readonly creationTimestamp: string;
  /** Set when deletion was requested while there are finalizers. */
  readonly deletionTimestamp?: string;
  readonly finalizers: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The resources with which this one is deleted; absent if there are none. */
  readonly ownerReferences?: readonly OwnerReference[];
}

/** Field manager of Headwater's own writes. */
export const ownFieldManager = "headwater";

/** Refers to a resource of the same namespace, or a cluster-scoped one. A resource is deleted with the last of its owners. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Whether this owner manages the resource; at most one does. */
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface Resource<Spec = unknown, Status = unknown> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: Spec;
  readonly status: Status;
  /**
   * What is wrong with the stored spec, which another version of its definition accepted. Reporting it keeps one such resource from
   * hiding the others. Its fields may be missing or differ, so controllers ignore them. Absent: the spec fits its schema.
   */
  readonly invalid?: string;
}

/** Whether the resource is deleted: in deletion, and without finalizers. A store may still return its last state. */
export function hasEnded({ metadata }: { readonly metadata: Pick<Metadata, "deletionTimestamp" | "finalizers"> }): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers.length === 0;
}

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  /** A date is shown as its age. */
  readonly type: "string" | "integer" | "boolean" | "date";
  /** Path of the value, with a leading dot. */
  readonly path: string;
  readonly description: string;
  /** Shown only with `-o wide`. */
  readonly wide?: boolean;
}

/** Input of a rule over the whole resource. */
export interface Candidate<Spec> {
  readonly metadata: { readonly name: string };
  readonly spec: Spec;
}

/** A problem of a resource, with its path such as `spec.url`. */
export interface PathIssue {
  readonly path: string;
  readonly message: string;
}

/** A field of the spec that cannot be changed. */
export interface ImmutableField<Field extends string = string> {
  readonly field: Field;
  /** Why, and what to do instead. */
  readonly message: string;
}

/** One kind: its names, and the schemas that are the type, the CRD schema and the validation. */
export interface Kind<Spec = unknown, Status = unknown> {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** `Namespaced` when absent; a resource of a cluster-scoped kind has the namespace "". */
  readonly scope?: "Namespaced" | "Cluster";
  /** Its purpose: the first sentence of `kubectl explain`. */
  readonly description: string;
  readonly columns: readonly Column[];
  /** Paths that `kubectl get --field-selector` takes besides name and namespace. */
  readonly selectable?: readonly string[];
  /** Paths of the scale subresource. */
  readonly scale?: { readonly replicas: string; readonly statusReplicas: string; readonly selector: string };
  /** Rules over the name and the spec together; rules over the spec alone are in its schema. */
  readonly rules?: readonly Rule<Candidate<Spec>>[];
  readonly immutable?: readonly ImmutableField[];
  readonly spec: z.ZodType<Spec>;
  readonly status: z.ZodType<Status>;
}

export function defineKind<Spec, Status>(
  kind: Kind<Spec, Status> & { readonly immutable?: readonly ImmutableField<keyof Spec & string>[] },
): Kind<Spec, Status> {
  return kind;
}

const readyPath = (field: string): string => `.status.conditions[?(@.type=="Ready")].${field}`;
const readyColumn: Column = {
  name: "Ready",
  type: "string",
  path: readyPath("status"),
  description: "Whether it is in the state that its spec describes.",
};
const lastColumns: readonly Column[] = [
  { name: "Id", type: "string", path: ".status.id", description: "Public id.", wide: true },
  { name: "Message", type: "string", path: readyPath("message"), description: "Why it is or is not ready, for people.", wide: true },
  { name: "Age", type: "date", path: ".metadata.creationTimestamp", description: "Time since it was created." },
];

/** The columns of a kind, and those that every kind has. */
export function columnsOf(...own: readonly Column[]): readonly Column[] {
  return [
    readyColumn,
    { name: "Reason", type: "string", path: readyPath("reason"), description: "Why it is or is not ready, as one word." },
    ...own,
    ...lastColumns,
  ];
}

/** Labels for list selectors. */
export const labels = {
  owner: "headwater.dev/owner",
  /** On a Secret, `true`: all resources of its namespace may refer to it. */
  referable: "headwater.dev/may-be-referenced",
  /** Public id of the resource; indexed by the store. */
  id: "headwater.dev/id",
  codeHash: "headwater.dev/code-hash",
  componentKey: "headwater.dev/component-key",
  app: "headwater.dev/app",
  /** Key of a registry component, on copies of it. */
  registry: "headwater.dev/registry",
} as const;

/** Prefix of all labels and annotations of Headwater. */
export const ownPrefix = "headwater.dev/";
/** Label of a resource made by the operator: uid of the source or workflow it was made for. */
export const madeFor = "headwater.dev/made-for";
/** Annotation of a component made from a URL or from the registry: generation of the resource for which that was read. */
export const madeForGeneration = "headwater.dev/made-for-generation";

export const finalizer = "headwater.dev/cleanup";
