import DataLoader from "dataloader";

/** A slow read delays the keys queued behind it by at most this time. */
const maxWaitMs = 50;

/**
 * Batches concurrent reads by key: while one read is running, others queue, and run together when it ends. A read starts after its request,
 * so results are never stale, and nothing is cached.
 */
export function batched<Found>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): (key: string) => Promise<Found | undefined> {
  let running = 0;
  let startNext: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    startNext?.();
    startNext = undefined;
  }

  const loader = new DataLoader<string, Found | undefined>(
    async (keys) => {
      running++;
      try {
        const found = await read([...new Set(keys)]);
        return keys.map((key) => found.get(key));
      } finally {
        running--;
        if (running === 0) start();
      }
    },
    {
      cache: false,
      batchScheduleFn: (startBatch) => {
        startNext = startBatch;
        if (running === 0) queueMicrotask(start);
        else timer = setTimeout(start, maxWaitMs);
      },
    },
  );
  return (key) => loader.load(key);
}
