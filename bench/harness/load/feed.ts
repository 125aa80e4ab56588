import { encodePack, type Invocation } from "../../../domain/invocation/invocation.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { defaultPool, invokeSubject, packSubject } from "../../../domain/subjects.ts";
import { connect } from "../../../platform/jetstream/connection/connection.ts";
import type { NatsConnection } from "../../../platform/process/nats/nats-connection.ts";
import { orders } from "../child.ts";
import { lastRun, pause } from "./runs.ts";

export interface FeedOrders {
  readonly nats: NatsConnection;
  readonly sources: readonly string[];
  readonly perMessage: number;
  readonly durationMs: number;
}

/** Invocations of each source that wait at any time: enough that none ever has nothing to do, few enough that runners hold few. */
const ahead = 48;

/**
 * Keeps the queue of the runners full, each source alike: as many invocations are added as were committed. What the feeding costs the
 * NATS server counts against us.
 */
const { nats, sources, perMessage, durationMs } = await orders<FeedOrders>();
const connection = await connect({ server: nats, name: "bench feed" });
const byPartition = Map.groupBy(sources, partitionOf);
const pad = "x".repeat(270);
let fed = 0;

function message(ids: readonly string[], from: number): string {
  return encodePack(
    Array.from({ length: perMessage }, (_, index) => {
      const id = `f${fed++}`;
      const source = ids[(from + index) % ids.length] ?? "";
      const body = JSON.stringify({ id, pad });
      const event = {
        method: "POST",
        path: "/",
        url: `http://127.0.0.1/${source}`,
        query: {},
        headers: { host: "bench", "content-type": "application/json", "content-length": String(body.length) },
        client_ip: "127.0.0.1",
        bodyRaw: body,
      };
      return JSON.stringify({ source, trigger: "http", at: Date.now(), event } satisfies Invocation);
    }),
  );
}

/** Gives each source `perMessage` invocations, in messages of that many over the sources of a partition. */
async function feedEach(): Promise<void> {
  await Promise.all(
    [...byPartition].flatMap(([partition, ids]) =>
      ids.map((id, index) => {
        const subject = perMessage === 1 ? invokeSubject(defaultPool, partition, id) : packSubject(defaultPool, partition);
        return connection.publisher.publish(subject, message(ids, index * perMessage));
      }),
    ),
  );
}

const first = await lastRun(connection);
for (const endsAt = performance.now() + durationMs; performance.now() < endsAt;) {
  const waiting = fed - ((await lastRun(connection)) - first);
  if (waiting < sources.length * ahead) await feedEach();
  else await pause(5);
}
await connection.close();
