import { webhookKind } from "../../crds/webhook.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { NotFound } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { isId } from "../../domain/ids.ts";
import type { ApiContext } from "../context.ts";
import type { User } from "../http/ports.ts";
import { maySeeEmitter } from "../resources/emitter.ts";
import { notFound } from "../resources/not-found.ts";
import type { DeliveryState, StoredDeadLetter, WholeAttempt } from "../webhooks/ports.ts";

export interface ReadDelivery {
  readonly webhook: string;
  readonly state: DeliveryState;
  /** What its event and route are. */
  readonly about: Omit<WholeAttempt, "exchange"> | StoredDeadLetter;
  /** Null: it is not stored any more, or the caller may not see the emitter. */
  readonly body: string | null;
  /** Newest first. */
  readonly attempts: readonly WholeAttempt[];
}

/** Bounds the response: each may have kept 16 KiB of a body, and as much of headers. */
const maxAttempts = 20;

/** A delivery to a webhook. @throws NotFound, also for deliveries of other owners, and for what `$.send` asked for */
export async function readDelivery(id: string, user: User, context: ApiContext): Promise<ReadDelivery> {
  const { access, ports } = context;
  const found = await ports.deliveries.findDelivery(id);
  if (found === undefined) throw notFound("delivery", id);
  const { webhook, state } = found;
  if (isId("workflow", webhook)) {
    if ((await access.findListed(workflowKind, "workflow", webhook, user)) === undefined) throw notFound("delivery", id);
    throw new NotFound(`record not found: delivery ${id} does not go to a webhook: see GET /v1/workflows/${webhook}/deliveries`);
  }
  if ((await access.findListed(webhookKind, "webhook", webhook, user)) === undefined) throw notFound("delivery", id);
  const [attempts, letter] = await Promise.all([
    ports.deliveries.readDelivery(id, maxAttempts),
    ports.deliveries.findDeadLetter(webhook, id),
  ]);
  const about = attempts[0] ?? letter;
  // Deleted since it was found.
  if (about === undefined) throw notFound("delivery", id);
  return { webhook, state, about, body: letter?.payload ?? (await readBody(about, user, context)), attempts };
}

/** The event's JSON is sent as it is stored. */
async function readBody({ source, event }: ReadDelivery["about"], user: User, { access, ports }: ApiContext): Promise<string | null> {
  if (!isEventId(event) || !(await maySeeEmitter(access, source, user))) return null;
  return (await ports.history.findEvent(source, event))?.payload ?? null;
}
