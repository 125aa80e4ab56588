/**
 * Which namespace belongs to which user or organization. In a cluster a label on the namespace says it (`headwater.dev/owner`);
 * on one machine the namespace's name does.
 */
export interface OwnerNamespaces {
  /** Public id of the owner; undefined for a namespace that nobody owns, or whose owner has an older one already. */
  ownerOf(namespace: string): Promise<string | undefined>;
  /** The owner's namespace; undefined while there is none: then the owner has no resources. */
  find(owner: string): Promise<string | undefined>;
  /** The owner's namespace, made when there is none. */
  ensure(owner: string): Promise<string>;
  /**
   * Tells of each namespace for which `ownerOf` answers otherwise than before; what was decided by the former answer is to be
   * looked at again. Absent where answers never change. @returns ends it
   */
  readonly onChange?: (told: (namespace: string) => void) => () => void;
}
