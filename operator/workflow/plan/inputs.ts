/** Inputs of a plan that it must not generate itself. */
export interface PlanInputs {
  /** A new `d_…`. */
  readonly deployment: string;
  readonly endpointKey: string;
  /** A new key for resume URLs. */
  readonly resumeKey: string;
  readonly ingressUrl: string;
  /** Epoch ms. */
  readonly now: number;
}
