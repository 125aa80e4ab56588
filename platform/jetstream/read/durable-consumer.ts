import { type ConsumerConfig, JetStreamApiError } from "@nats-io/jetstream";
import type { Connection } from "../connection/connection.ts";

const existsWithOtherSettings = 10148;

/**
 * Creates a durable consumer, or changes the settings of the existing one, which keeps its position. A consumer whose storage changes is
 * created again, because NATS refuses that update: it then redelivers all messages that are not acked.
 */
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
    const { config: existing } = await consumers.info(stream, durable_name);
    if ((existing.mem_storage ?? false) === (config.mem_storage ?? false)) await consumers.update(stream, durable_name, changeable);
    else {
      await consumers.delete(stream, durable_name);
      await consumers.add(stream, config);
    }
  }
}
