/** A slower read no longer delays the keys that wait behind it. */
const maxWaitMs = 50;

interface Waiting<Found> {
  readonly key: string;
  readonly resolve: (found: Found | undefined) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Batches concurrent reads by key: while one read is running others queue, and run together when it ends. A read starts after its request,
 * so results are never stale, and nothing is cached. A single request is read at once.
 */
export function batched<Found>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): (key: string) => Promise<Found | undefined> {
  let waiting: Waiting<Found>[] = [];
  let running = 0;
  let timer: NodeJS.Timeout | undefined;

  function runBatch(): void {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting;
    waiting = [];
    running++;
    const end = (): void => {
      running--;
      if (waiting.length > 0 && running === 0) runBatch();
    };
    read([...new Set(batch.map(({ key }) => key))]).then(
      (found) => {
        for (const { key, resolve } of batch) resolve(found.get(key));
        end();
      },
      (error: Error) => {
        for (const { reject } of batch) reject(error);
        end();
      },
    );
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      if (running === 0) runBatch();
      else timer ??= setTimeout(runBatch, maxWaitMs);
    });
}
