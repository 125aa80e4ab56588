/** One that is slower holds up nobody who comes after it. */
const slowMs = 50;

interface Waiting<Found> {
  readonly key: string;
  readonly resolve: (found: Found | undefined) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Reads by key, as many at once as wait: while one read is under way others gather, and go together when it ends. Each is read after it
 * was asked for, so nobody is told what was true before; nothing is remembered. Who asks alone is read for at once.
 */
export function batched<Found>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): (key: string) => Promise<Found | undefined> {
  let waiting: Waiting<Found>[] = [];
  let underWay = 0;
  let timer: NodeJS.Timeout | undefined;

  function begin(): void {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting;
    waiting = [];
    underWay++;
    const end = (): void => {
      underWay--;
      if (waiting.length > 0 && underWay === 0) begin();
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
      if (underWay === 0) begin();
      else timer ??= setTimeout(begin, slowMs);
    });
}
