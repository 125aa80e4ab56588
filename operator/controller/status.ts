import type { Condition, Kind, Resource } from "../../crds/resource.ts";
import type { ResourceStore } from "../../crds/resource-store.ts";
import { sameStatus, setConditions, type ConditionInput } from "./conditions.ts";

/** The fields that every kind's status has. */
export interface AnyStatus {
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/** What a pass found out. Of several conditions of one type the last one counts. */
export interface StatusChange<T> {
  /** Replace those of the status; `undefined` takes a field away. */
  readonly fields?: { readonly [Field in keyof T]?: T[Field] | undefined };
  readonly conditions: readonly (Omit<ConditionInput, "observedGeneration"> & { readonly observedGeneration?: number })[];
  /** Epoch ms. */
  readonly now: number;
}

/**
 * Writes the status when something of it differs, so that a pass over a settled resource costs no call. Sets
 * `observedGeneration`, of the status and of each condition, to the generation of `resource`: it must be the one that was judged.
 * `lastTransitionTime` moves only when a condition's status does.
 * @returns the resource as it is then @throws Conflict, NotFound
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
  const merged = {
    ...resource.status,
    ...fields,
    observedGeneration: generation,
    conditions: setConditions(resource.status.conditions ?? [], inputs, now),
  };
  // Same fields as T, since `fields` are T's; those taken away were optional in it.
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)) as T;
}

/** Ready, Reconciling and Stalled of one verdict, as kstatus reads them. `passing`: it may become ready without a change of it. */
export function readyConditions(verdict: {
  readonly ready: boolean;
  readonly passing?: boolean;
  readonly reason: string;
  readonly message: string;
}): readonly Omit<ConditionInput, "observedGeneration">[] {
  const { ready, passing = false, reason, message } = verdict;
  const says = (yes: boolean): "True" | "False" => (yes ? "True" : "False");
  return [
    { type: "Ready", status: says(ready), reason, message },
    { type: "Reconciling", status: says(!ready && passing), reason, message },
    { type: "Stalled", status: says(!ready && !passing), reason, message },
  ];
}

/** Kubernetes takes at most 32 KiB in a condition's message; what a person reads is less. */
const mostMessage = 2_000;

export function shortened(message: string): string {
  return message.length <= mostMessage ? message : `${message.slice(0, mostMessage - 1)}…`;
}
