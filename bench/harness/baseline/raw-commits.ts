import { runSubject } from "../../../domain/subjects.ts";
import { connect } from "../../../platform/jetstream/connection/connection.ts";
import type { NatsConnection } from "../../../platform/process/nats/nats-connection.ts";
import { orders, reply } from "../child.ts";

/**
 * The baseline of a run: one publish with the expected last sequence of its subject onto the same stream, of the same size, through our
 * own publisher (the client's costs more). Each of `inFlight` subjects publishes again as soon as its last publish is acknowledged.
 */
const { nats, inFlight, bytes, durationMs } = await orders<{
  readonly nats: NatsConnection;
  readonly inFlight: number;
  readonly bytes: number;
  readonly durationMs: number;
}>();
const connection = await connect({ server: nats, name: "bench baseline" });
const body = "x".repeat(bytes);
const prefix = `raw${Date.now().toString(36)}`;
let [stored, isOver] = [0, false];
const one = async (_: unknown, index: number): Promise<void> => {
  let expected = 0;
  while (!isOver) {
    ({ seq: expected } = await connection.publisher.publish(runSubject(index % 16, "u_bench", `${prefix}n${index}`), body, {
      expectedLastSubjectSequence: expected,
    }));
    stored++;
  }
};
const startedAt = performance.now();
setTimeout(() => (isOver = true), durationMs);
await Promise.all(Array.from({ length: inFlight }, one));
reply({ perSecond: (stored / (performance.now() - startedAt)) * 1_000 });
await connection.close();
