import type { ConsumerConfig } from "@nats-io/jetstream";
import type { Connection } from "../connection/connection.ts";
import { isMissing } from "../connection/errors.ts";

type Config = Partial<ConsumerConfig> & { readonly durable_name: string };

/**
 * Creates a durable consumer, or changes the settings of the existing one, which keeps its position. One that has the settings is left
 * alone: each creation or update makes NATS forget the open pull requests, and the readers receive nothing until they notice the silence. A
 * consumer whose storage changes is created again, because NATS refuses that update: it then redelivers all messages that are not acked.
 */
export async function createOrUpdateConsumer(connection: Connection, stream: string, config: Config): Promise<void> {
  const { consumers } = connection.manager;
  const { durable_name: name, ack_policy: _ack, deliver_policy: _deliver, mem_storage: inMemory = false, ...changeable } = config;
  const existing = await settingsOf(connection, stream, name);
  if (existing === undefined) await consumers.add(stream, config);
  else if ((existing.mem_storage ?? false) !== inMemory) {
    await consumers.delete(stream, name);
    await consumers.add(stream, config);
  } else if (Object.entries(changeable).some(([key, value]) => existing[key as keyof ConsumerConfig] !== value))
    await consumers.update(stream, name, changeable);
}

async function settingsOf({ manager }: Connection, stream: string, name: string): Promise<ConsumerConfig | undefined> {
  try {
    return (await manager.consumers.info(stream, name)).config;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
