/** Values that a plan may need and must not make itself. */
export interface Fresh {
  /** The id that its maker labelled it with, else a new one. */
  readonly id: string;
  readonly deployment: string;
  readonly endpointKey: string;
  /** A slug of the source's name that nobody else of the owner has. */
  readonly nameSlug: string;
  readonly ingressUrl: string;
  /** How long a deletion waits for `deactivate`, in all. */
  readonly deletionPatienceMs: number;
  /** It is time to try a hook again that failed while a version was restored. */
  readonly retryHook: boolean;
  /** Epoch ms. */
  readonly now: number;
}
