import type { Condition, Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { sameStatus, setConditions, type ConditionInput } from "./conditions.ts";

/** Fields common to the status of all kinds. */
export interface AnyStatus {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/** Fields of a status to replace; `undefined` removes one. */
export type Fields<T> = { readonly [Field in keyof T]?: T[Field] | undefined };

/** @param fields those of T, which are optional in it if one is undefined */
export function withFields<T extends object>(status: T, fields: object): T {
  return Object.fromEntries(Object.entries({ ...status, ...fields }).filter(([, value]) => value !== undefined)) as T;
}

/** Result of a pass. If a condition type repeats, the last one applies. */
export interface StatusChange<T> {
  readonly fields?: Fields<T>;
  readonly conditions: readonly (Omit<ConditionInput, "observedGeneration"> & { readonly observedGeneration?: number })[];
  /** Epoch ms. */
  readonly now: number;
}

/**
 * Writes the status if it differs, so that a pass over a settled resource costs no call. Sets `observedGeneration`, of the status and of
 * each condition, to the generation of `resource`, which must be the one that was judged. `lastTransitionTime` changes only with a
 * condition's status.
 * @returns the updated resource @throws Conflict, NotFound
 */
export async function writeStatus<S, T extends AnyStatus>(
  store: Pick<ResourceStore, "updateStatus">,
  kind: Kind<S, T>,
  resource: Resource<S, T>,
  change: StatusChange<T>,
): Promise<Resource<S, T>> {
  const status = nextStatus(resource, change);
  return sameStatus(status, resource.status) ? resource : store.updateStatus(kind, { ...resource, status });
}

/** The status that {@link writeStatus} would write. */
export function nextStatus<S, T extends AnyStatus>(resource: Resource<S, T>, { fields, conditions, now }: StatusChange<T>): T {
  const { generation } = resource.metadata;
  const inputs = conditions.map((condition) => ({ observedGeneration: generation, ...condition }));
  const next = setConditions(resource.status.conditions ?? [], inputs, now);
  return withFields(resource.status, { ...fields, observedGeneration: generation, conditions: next });
}

/** Epoch ms at which the operator saw the last change of the spec; of a new resource, its creation. */
export function updatedAtOf(
  { metadata, status }: Pick<Resource<unknown, AnyStatus & { readonly updatedAt?: number | undefined }>, "metadata" | "status">,
  now: number,
): number {
  const changedAt = metadata.generation === 1 ? Date.parse(metadata.creationTimestamp) : now;
  return status.observedGeneration === metadata.generation ? (status.updatedAt ?? changedAt) : changedAt;
}

export interface Verdict {
  readonly ready: boolean;
  /** It may become ready without a change of its spec. */
  readonly transient?: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Ready, Reconciling and Stalled for one verdict, as kstatus defines them. */
export function readyConditions(verdict: Verdict): readonly Omit<ConditionInput, "observedGeneration">[] {
  const { ready, transient = false, reason, message } = verdict;
  const conditionStatus = (yes: boolean): "True" | "False" => (yes ? "True" : "False");
  return [
    { type: "Ready", status: conditionStatus(ready), reason, message },
    { type: "Reconciling", status: conditionStatus(!ready && transient), reason, message },
    { type: "Stalled", status: conditionStatus(!ready && !transient), reason, message },
  ];
}

/** Well below the limit of Kubernetes, which is 32 KiB per condition message. */
const maxMessageLength = 2_000;

export function shortened(message: string): string {
  return message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength - 1)}…`;
}
