/** A namespace of Kubernetes that is labelled with an owner, or that the owner has confirmed. */
export interface ClaimedNamespace {
  readonly name: string;
  /** Epoch ms; null: the owner has not confirmed it. */
  readonly confirmedAt: number | null;
  /** Whether its label names the owner. */
  readonly isLabelled: boolean;
  /** Whether it is the one that has the owner's resources. */
  readonly isInUse: boolean;
}

/** Namespaces of owners in a cluster. A label alone gives a namespace nothing of an owner: the owner, or an admin, confirms it. */
export interface NamespaceClaims {
  list(owner: string): Promise<readonly ClaimedNamespace[]>;
  /** Safe to repeat, and before the namespace exists. @throws Conflict when the owner has confirmed too many */
  confirm(owner: string, name: string): Promise<void>;
  /** @throws NotFound when it is not confirmed */
  withdraw(owner: string, name: string): Promise<void>;
}
