import type { History } from "../../../delivery/record/ports.ts";
import type { RecordedRuns } from "../../jetstream/streams/stream-identity.ts";
import type { Database } from "../connection.ts";
import { listOverQuota, listWeights } from "../quotas.ts";
import { createDeliveryRecords } from "./deliveries.ts";
import { createFailingEndpoints } from "./failing-endpoints.ts";
import { createHistory } from "./index.ts";

export interface DeliveryHistoryOptions extends RecordedRuns {
  /** Whether errors are stored to be mailed. Default: false. */
  readonly mailsErrors?: boolean;
  readonly kept: { readonly events: number; readonly logs: number };
}

/** All that the delivery role reads and writes in Postgres. */
export function createDeliveryHistory(database: Database, { stream, nameOf, kept, mailsErrors = false }: DeliveryHistoryOptions): History {
  const history = createHistory(database, { kept, mailsErrors });
  const records = createDeliveryRecords(database);
  const endpoints = createFailingEndpoints(database);
  return {
    positions: () => history.readPositions(stream),
    recordCommits: (commits, expected) => history.recordCommits(stream, commits, expected),
    // All commits of an earlier stream RUNS are recorded or lost: no position of it is ahead.
    scheduledEvent: (source, listedId, position) =>
      history.scheduledEvent(source, listedId, { stream, seq: nameOf(position.stream) === stream ? position.seq : 0 }),
    emitScheduledEvent: (source, listedId, id) => history.emitScheduledEvent(source, listedId, id),
    listOverQuota: (dayMs) => listOverQuota(database.db, dayMs),
    listWeights: () => listWeights(database.db),
    recordAttempts: (attempts) => records.recordAttempts(attempts),
    recordDeadLetters: (letters) => records.recordDeadLetters(letters),
    findDeadLetter: (webhook, delivery) => records.findDeadLetter(webhook, delivery),
    oldestDeadLetters: (webhook, range, limit) => records.oldestDeadLetters(webhook, range, limit),
    removeDeadLetters: (webhook, ids) => records.removeDeadLetters(webhook, ids),
    listFailingWebhooks: () => endpoints.all(),
    saveWebhookFailures: (failing, recovered) => endpoints.save(failing, recovered),
  };
}
