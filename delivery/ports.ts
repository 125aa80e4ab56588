import type { Clock } from "../domain/clock.ts";
import type { Hmac } from "../domain/delivery/webhook-signature.ts";
import type { AdmissionGate } from "../domain/limits/admission.ts";
import type { Log } from "../domain/log.ts";
import type { Traces } from "../domain/traces.ts";
import type { AttemptsConfig } from "./attempts/attempts.ts";
import type { DelivererConfig } from "./attempts/deliver.ts";
import type { Deliveries, WebhookTests } from "./attempts/ports.ts";
import type { DeliveryMetrics, Invocations, Objects, Poster, Secrets, Workflows } from "./destinations/ports.ts";
import type { OwnerMailer } from "./mail/ports.ts";
import type { FormerQueues, OrderedRequests, QueueStore } from "./ordered/ports.ts";
import type { History, OwnerLimits } from "./record/ports.ts";
import type { Rate } from "../domain/limits/token-bucket.ts";
import type { AnnounceEvent, Replays, Replicas, RouteEntries, Runs } from "./routing/ports.ts";

/** Everything that the delivery role reaches. Each room declares its ports; only `start.ts` and `wiring` know the whole. */
export interface DeliveryPorts {
  readonly runs: Runs;
  readonly routes: RouteEntries;
  readonly replays: Replays;
  readonly replicas: Replicas;
  readonly announce: AnnounceEvent;
  readonly deliveries: Deliveries;
  readonly poster: Poster;
  readonly invocations: Invocations;
  readonly workflows: Workflows;
  readonly tests: WebhookTests;
  /** Knows which listening sources have a full backlog. */
  readonly admission: Pick<AdmissionGate, "admits">;
  readonly queueStore: QueueStore;
  readonly orderedRequests: OrderedRequests;
  readonly formerQueues: FormerQueues;
  readonly history: History;
  readonly ownerLimits: OwnerLimits;
  readonly secrets: Secrets;
  /** Absent: `$.send.email` fails, because the installation sends no mails. */
  readonly mails?: OwnerMailer;
  /** Absent: `$.send.s3` fails, because the installation has no store. */
  readonly objects?: Objects;
  readonly hmac: Hmac;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: DeliveryMetrics;
  /** Absent if tracing is off. */
  readonly traces?: Traces | undefined;
}

export interface DeliveryConfig extends DelivererConfig, AttemptsConfig {
  /** Bound on listeners of one event that are attempted directly; with more, each delivery becomes a message at once. */
  readonly maxDirectListeners: number;
  /** A webhook at which no delivery has succeeded for this time is disabled. Absent: never. */
  readonly disableAfterMs?: number;
  /** Default: bursts of 200 posts, 50 posts a second. */
  readonly replayPace?: Rate;
}
