/** The stores of all owners, as the API and the operator create and delete them. */
export interface RegisteredStores {
  /** Creates a store, or gives it another owner: its entries stay. Safe to repeat. @throws Unavailable */
  register(store: { readonly id: string; readonly owner: string; readonly name: string }): Promise<void>;
  /** Keeps a store for an owner that may come: until then no run and no request reaches it. Safe to repeat. @throws Unavailable */
  disown(id: string): Promise<void>;
  /** Deletes a store with its entries. Safe to repeat. @throws Unavailable */
  delete(id: string): Promise<void>;
  /** Entries and bytes of stores, also those that have expired and are not deleted yet. */
  sizes(ids: readonly string[]): Promise<ReadonlyMap<string, StoreSize>>;
}

export interface StoreSize {
  readonly entries: number;
  readonly bytes: number;
}
