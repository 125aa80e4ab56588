import type { StoreOperation } from "../../../domain/data-store/data-stores.ts";

/** What the parent is asked to do with the store of a prop. */
export interface StoreCall {
  readonly prop: string;
  readonly operation: StoreOperation;
  /** How many operations of the same kind on the same key the run has begun before: the same when the run is repeated. */
  readonly index: number;
}

export const maxPropLength = 1_024;
