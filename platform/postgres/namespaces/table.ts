/** Namespaces that owners have confirmed as theirs. */
export interface OwnerNamespaceTable {
  /** `*`, with the namespace `*`: until the operator has adopted the namespaces in use, all of them count as confirmed. */
  readonly owner: string;
  readonly namespace: string;
  readonly confirmed_ms: number;
}
