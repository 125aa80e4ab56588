import { type ConsumerConfig, JetStreamApiError } from "@nats-io/jetstream";
import type { Connection } from "./connection.ts";

const existsWithOtherSettings = 10148;

/** Makes a durable consumer, or changes the settings of the one there is; where it stands stays. */
export async function createOrUpdateConsumer(
  connection: Connection,
  stream: string,
  config: Partial<ConsumerConfig> & { readonly durable_name: string },
): Promise<void> {
  const { consumers } = connection.manager;
  try {
    await consumers.add(stream, config);
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== existsWithOtherSettings) throw error;
    const { durable_name, ack_policy: _ack, deliver_policy: _deliver, ...changeable } = config;
    await consumers.update(stream, durable_name, changeable);
  }
}
