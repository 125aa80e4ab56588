import { retrySubject, streams } from "../../../domain/subjects.ts";
import { until } from "../../support/until.ts";
import type { RepairWorld } from "./webhooks-support.ts";

/** Dead letters of a world's webhooks. */
export function deadLettersIn(world: RepairWorld) {
  const list = async (webhook: string) =>
    (await world.get(`/v1/webhooks/${webhook}/dead_letters`)).data as { readonly delivery_id: string; readonly died_at_ms: number }[];
  const untilDead = (webhook: string, count: number) => until(async () => (await list(webhook)).length === count, `${count} dead letters`);
  /** Of the stream DELIVERIES. */
  const storedSubjects = async (filter: string): Promise<readonly string[]> => {
    const { state } = await world.streams.connection.manager.streams.info(streams.deliveries, { subjects_filter: filter });
    return Object.keys(state.subjects ?? {});
  };
  return {
    /** Newest first. */
    list,
    untilDead,
    /** Neither a delivery nor a request for some. */
    untilNothingIsDue: () => until(async () => (await storedSubjects("deliver.>")).length === 0, "nothing is due"),
    /** Subjects of deliveries that are due later. */
    scheduled: (webhook: string) => storedSubjects(retrySubject(webhook, ">")),
    /** A webhook whose endpoint fails, and the dead letters of these events. */
    async create(...values: readonly unknown[]) {
      const receiver = await world.receive();
      receiver.status = 503;
      const webhook = await world.subscribedWebhook(receiver.url);
      const ids = await world.emit(...values);
      await untilDead(webhook.id, values.length);
      return { receiver, webhook, ids };
    },
  };
}
