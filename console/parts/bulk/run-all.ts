/** Requests at once: more would only wait at the API. */
const concurrency = 4;

export interface BulkOutcome<Item> {
  readonly done: readonly Item[];
  readonly failed: readonly { readonly item: Item; readonly error: Error }[];
}

/**
 * Does the same to all items, a few at once. One that fails does not keep the others from being done.
 * @param onProgress called with the number of items that are done or have failed
 * @param signal those that have not begun are left out when it aborts
 */
export async function runAll<Item>(
  items: readonly Item[],
  perform: (item: Item) => Promise<unknown>,
  onProgress: (count: number) => void,
  signal: AbortSignal,
): Promise<BulkOutcome<Item>> {
  const done: Item[] = [];
  const failed: { item: Item; error: Error }[] = [];
  const left = items.values();
  const work = async (): Promise<void> => {
    for (const item of left) {
      if (signal.aborted) return;
      await perform(item).then(
        () => done.push(item),
        (error: unknown) => failed.push({ item, error: error instanceof Error ? error : new Error(String(error)) }),
      );
      onProgress(done.length + failed.length);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { done, failed };
}
