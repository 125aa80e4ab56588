/** Inputs of a plan that it must not generate itself. */
export interface PlanInputs {
  /** The id in the source's label, else a new one. */
  readonly id: string;
  readonly deployment: string;
  readonly endpointKey: string;
  /** A slug of the source's name that is unique within the owner. */
  readonly nameSlug: string;
  readonly ingressUrl: string;
  /** How long a deletion waits for `deactivate`, in total. */
  readonly maxDeactivateWaitMs: number;
  /** A hook that failed while a version was restored is due for a retry. */
  readonly retryHook: boolean;
  /** Epoch ms. */
  readonly now: number;
}
