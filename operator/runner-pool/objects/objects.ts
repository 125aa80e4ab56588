import type {
  V1Deployment,
  V1NetworkPolicy,
  V1ObjectMeta,
  V1OwnerReference,
  V1PodDisruptionBudget,
  V1Secret,
  V1ServiceAccount,
} from "@kubernetes/client-node";

/**
 * The JSON form of a client-node class: times are strings, reserved names have no underscore prefix (`_from`), arrays are readonly.
 * Undefined fields are omitted.
 */
export type Plain<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Plain<Item>[]
    : T extends object
      ? {
          readonly [K in keyof T as K extends `_${infer Name}` ? Name : K]:
            | Plain<T[K]>
            | (IsOptional<T, K> extends true ? undefined : never);
        }
      : T;
type IsOptional<T, K extends keyof T> = Partial<Pick<T, K>> extends Pick<T, K> ? true : false;

export interface WorkloadMetadata extends Pick<Plain<V1ObjectMeta>, "annotations"> {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly Plain<V1OwnerReference>[];
}

interface Classes {
  readonly ServiceAccount: V1ServiceAccount;
  readonly Secret: V1Secret;
  readonly NetworkPolicy: V1NetworkPolicy;
  readonly PodDisruptionBudget: V1PodDisruptionBudget;
  readonly Deployment: V1Deployment;
}
export type WorkloadKind = keyof Classes;
export const workloadKinds = [
  "ServiceAccount",
  "Secret",
  "NetworkPolicy",
  "PodDisruptionBudget",
  "Deployment",
] as const satisfies readonly WorkloadKind[];

type Workload<Kind extends WorkloadKind> = Omit<Plain<Classes[Kind]>, "apiVersion" | "kind" | "metadata" | "status"> & {
  readonly apiVersion: string;
  readonly kind: Kind;
  readonly metadata: WorkloadMetadata;
};
/** The objects of a pool. */
export type WorkloadObject = { readonly [Kind in WorkloadKind]: Workload<Kind> }[WorkloadKind];
