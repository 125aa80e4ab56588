import { orders, reply } from "../child.ts";
import { RawClient } from "../baseline/raw-http.ts";

export interface AcceptOrders {
  readonly port: number;
  readonly paths: readonly string[];
  readonly body: string;
  /** Connections, each with one request at a time. */
  readonly inFlight: number;
  readonly durationMs: number;
  /** Stop after this many requests, answered or refused; absent: no limit. */
  readonly maxRequests?: number;
}

export interface Accepted {
  readonly perSecond: number;
  /** Statuses other than 200, by how often. */
  readonly refused: Readonly<Record<string, number>>;
}

/** Sends as fast as it is answered, for a time. */
export async function load({
  port,
  paths,
  body,
  inFlight,
  durationMs,
  maxRequests = Number.POSITIVE_INFINITY,
}: AcceptOrders): Promise<Accepted> {
  const refused: Record<string, number> = {};
  let [sent, answered, isOver] = [0, 0, false];
  const one = async (): Promise<void> => {
    const client = new RawClient(port);
    while (!isOver && sent < maxRequests) {
      const status = await client.post(paths[sent++ % paths.length] ?? "/", body);
      if (status === 200) answered++;
      else refused[status] = (refused[status] ?? 0) + 1;
    }
    client.close();
  };
  const startedAt = performance.now();
  const timer = setTimeout(() => (isOver = true), durationMs);
  await Promise.all(Array.from({ length: inFlight }, one));
  clearTimeout(timer);
  return { perSecond: (answered / (performance.now() - startedAt)) * 1_000, refused };
}

if (import.meta.main) reply(await load(await orders<AcceptOrders>()));
