import { Destinations } from "../../delivery/destinations/destinations.ts";
import { FailingWebhooks } from "../../delivery/destinations/failing-webhooks.ts";
import type { PostRequest, PostResult, StoredObject, WaitingEvents } from "../../delivery/destinations/ports.ts";
import { WorkflowQueues } from "../../delivery/destinations/workflow-queues.ts";
import type { LimitedOutcome } from "../../delivery/mail/ports.ts";
import type { Delivery } from "../../delivery/routing/delivery.ts";
import { Routes } from "../../delivery/routing/routes.ts";
import { InvalidInput, Unavailable } from "../../domain/errors.ts";

export const signingKey = `whsec_${"A".repeat(32)}`;

/** Destinations over fakes of all that they reach. What a test assigns to `world` decides how the other side answers. */
export function destinationWorld() {
  const world = {
    answer: { outcome: "answered", status: 200, retryAfter: undefined } as PostResult,
    mailed: { outcome: "sent" } as LimitedOutcome,
    isBacklogFull: false,
    isNatsAway: false,
    arePortsBroken: false,
    waiting: { usage: undefined, bytes: 0, counts: new Map() } as WaitingEvents,
    posts: [] as PostRequest[],
    objects: [] as StoredObject[],
    /** Message ids of stored invocations and queued deliveries. */
    stored: [] as string[],
    mails: [] as string[],
  };
  const throwIfBroken = (): void => {
    if (world.arePortsBroken) throw new TypeError("a port is broken");
  };
  const isAccepted = (): boolean => world.answer.outcome === "answered" && world.answer.status < 300;
  const store = async (id: string): Promise<void> => {
    if (world.isNatsAway) throw new Unavailable("NATS is away");
    world.stored.push(id);
  };
  const routes = new Routes();
  const none = () => Promise.resolve([]);
  const ports = {
    poster: {
      post: async (request: PostRequest) => {
        throwIfBroken();
        if (isAccepted()) world.posts.push(request);
        return world.answer;
      },
    },
    objects: {
      bucket: undefined,
      hasOwnerPrefix: true,
      put: async (object: StoredObject) => {
        throwIfBroken();
        if (isAccepted()) world.objects.push(object);
        return world.answer;
      },
    },
    mails: {
      sendTo: async (_owner: string, { id }: { readonly id: string }) => {
        throwIfBroken();
        if (world.mailed.outcome === "sent") world.mails.push(id);
        return world.mailed;
      },
    },
    secrets: {
      open: async (sealed: string) => {
        if (sealed === signingKey) return sealed;
        if (sealed.startsWith("sealed ")) return sealed.slice("sealed ".length);
        throw new InvalidInput("it is not sealed for this installation");
      },
    },
    hmac: () => "hmac",
    admission: { admits: () => !world.isBacklogFull },
    invocations: { request: (_pool: string, _listener: string, _text: string, messageId: string) => store(messageId) },
    workflows: {
      store: (_queue: unknown, _text: string, messageId: string) => store(messageId),
      waiting: async () => world.waiting,
      listQueued: none,
      findNext: async () => undefined,
      removeUpTo: async () => undefined,
    },
    history: { listFailingWebhooks: none, saveWebhookFailures: async () => undefined },
    clock: { now: () => 1_000_000 },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };
  const failing = new FailingWebhooks({}, ports, () => Promise.resolve());
  const queues = new WorkflowQueues(ports, routes, new AbortController().signal);
  const destinations = new Destinations(ports, { routes, failing, queues });
  return { world, routes, destinations };
}

/** The delivery of an event of `dc_1`, which belongs to `u_1`, by the subscription `sub_1`. */
export function deliveryTo(listener: string, payload = '{"n":1}'): Delivery {
  const event = { emitId: "e1", eventId: "1-0", source: "dc_1", owner: "u_1", channel: "", ts: 1, payload };
  return { id: "e1.sub_1", subscription: "sub_1", listener, event, attempt: 1 };
}

/** The delivery of what `$.send` asked for in a run of the workflow `p_1`. */
export function sendOf(kind: "http" | "email" | "s3", argument: object): Delivery {
  const delivery = deliveryTo("p_1", JSON.stringify(argument));
  return { ...delivery, subscription: "p_1", event: { ...delivery.event, source: "p_1", channel: `$send.${kind}` } };
}
