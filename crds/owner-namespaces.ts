/**
 * Maps namespaces to users and organizations: in a cluster by the namespace's label `headwater.dev/owner`, on one machine by its name.
 */
export interface OwnerNamespaces {
  /** Public id of the owner; undefined for a namespace without an owner, or whose owner already has an older one. */
  ownerOf(namespace: string): Promise<string | undefined>;
  /** The owner's namespace; undefined if it does not exist, which means that the owner has no resources. */
  find(owner: string): Promise<string | undefined>;
  /** The owner's namespace, created if it does not exist. */
  ensure(owner: string): Promise<string>;
  /**
   * Notifies of each namespace whose owner changed, so that decisions based on the former owner can be repeated. Absent where owners
   * never change. @returns stops the notifications
   */
  readonly onChange?: (notify: (namespace: string) => void) => () => void;
}
