import { z } from "zod";
import { matching, type Rule } from "./rules.ts";

export const group = "headwater.dev";
export const version = "v1alpha1";
export const apiVersion = `${group}/${version}`;

export const namePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
export const nameMessage =
  "a name holds lower-case letters, digits and dashes, at most 63 of them, and begins and ends with a letter or digit";

/** Names as Kubernetes takes them: RFC 1123 label. */
export const resourceName = matching(namePattern, 63, nameMessage);

export const condition = z.object({
  type: z
    .enum(["Ready", "Reconciling", "Stalled"])
    .describe(
      "Ready: it does what its spec says. Reconciling: work on it is under way. Stalled: it needs a change by somebody before it goes on.",
    ),
  status: z.enum(["True", "False", "Unknown"]).describe("Whether the condition holds."),
  reason: z.string().describe("One word in CamelCase for programs; docs/operations.md says what each means."),
  message: z.string().describe("A sentence for people: what is wrong and what would be right."),
  lastTransitionTime: dateTime().describe("When `status` last changed, RFC 3339."),
  observedGeneration: z.int().describe("The `metadata.generation` that this was found of."),
});
export type Condition = z.infer<typeof condition>;

/** The fields every kind's status has. */
export const baseStatus = z.object({
  id: z.string().optional().describe("Public id, as the REST interface names it."),
  observedGeneration: z
    .int()
    .optional()
    .describe("The `metadata.generation` that this status tells of; an older one means that the last change is not seen yet."),
  conditions: z
    .array(condition)
    .optional()
    .meta({ description: "What holds now; one entry per type.", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
});

/** A time as text, RFC 3339. */
export function dateTime(): z.ZodString {
  return z.string().meta({ format: "date-time" });
}

export interface Metadata {
  readonly name: string;
  /** One namespace per owner: `hw-…`; labelled with the owner's id. */
  readonly namespace: string;
  readonly uid: string;
  /** Opaque to everybody but the store; orders changes within the store. */
  readonly resourceVersion: string;
  /** Grows by one with each change of the spec, and when deletion begins. */
  readonly generation: number;
  /** RFC 3339. */
  readonly creationTimestamp: string;
  /** Set when deletion was asked for while finalizers stand. */
  readonly deletionTimestamp?: string;
  readonly finalizers: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The resources that this one ends with; absent when it stands for itself. */
  readonly ownerReferences?: readonly OwnerReference[];
}

/** Names a resource of the same namespace, or a cluster-scoped one. When all that are named are gone, so is the one that names them. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** The one that manages it; at most one is. */
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
   * What is wrong with the spec as it is stored: another version of its definition let it in. It is told so that one such resource
   * does not hide the others; its fields may then lack or differ, so nobody acts on them. Absent: the spec fits its schema.
   */
  readonly invalid?: string;
}

/** Without its last finalizer a resource in deletion is gone; a store that answers with it tells what it was. */
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
  /** Shown by `-o wide` only. */
  readonly wide?: boolean;
}

/** What a rule over the whole resource sees. */
export interface Candidate<Spec> {
  readonly metadata: { readonly name: string };
  readonly spec: Spec;
}

/** What is wrong with a resource and where, `spec.url`. */
export interface PathIssue {
  readonly path: string;
  readonly message: string;
}

/** A field of the spec that stays as it was created. */
export interface ImmutableField<Field extends string = string> {
  readonly field: Field;
  /** Why, and what to do instead. */
  readonly message: string;
}

/** One kind: its names and the schemas that are at once type, CRD schema and validation. */
export interface Kind<Spec = unknown, Status = unknown> {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** `Namespaced` when absent; a resource of a cluster-scoped kind has the namespace "". */
  readonly scope?: "Namespaced" | "Cluster";
  /** What it is for, as `kubectl explain` says it first. */
  readonly description: string;
  readonly columns: readonly Column[];
  /** Paths that `kubectl get --field-selector` takes besides name and namespace. */
  readonly selectable?: readonly string[];
  /** Paths of the scale subresource. */
  readonly scale?: { readonly replicas: string; readonly statusReplicas: string; readonly selector: string };
  /** Rules that look at the name and the spec together; those of the spec alone are in its schema. */
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
  description: "Whether it does what its spec says.",
};
const lastColumns: readonly Column[] = [
  { name: "Id", type: "string", path: ".status.id", description: "Public id.", wide: true },
  { name: "Message", type: "string", path: readyPath("message"), description: "Why it is ready or not, for people.", wide: true },
  { name: "Age", type: "date", path: ".metadata.creationTimestamp", description: "Time since it was created." },
];

/** The columns of a kind between those that every kind has. */
export function columnsOf(...own: readonly Column[]): readonly Column[] {
  return [
    readyColumn,
    { name: "Reason", type: "string", path: readyPath("reason"), description: "Why it is ready or not, in a word." },
    ...own,
    ...lastColumns,
  ];
}

/** Labels that lists select by. */
export const labels = {
  owner: "headwater.dev/owner",
  /** Public id of the resource: the store keeps an index on it. */
  id: "headwater.dev/id",
  codeHash: "headwater.dev/code-hash",
  componentKey: "headwater.dev/component-key",
  app: "headwater.dev/app",
  /** On a copy of a component of our own registry: its key. */
  registry: "headwater.dev/registry",
} as const;

export const finalizer = "headwater.dev/cleanup";
