import { assertNever } from "../../domain/errors.ts";
import type { Route } from "../../domain/source/deployment.ts";
import type { OwnerMailer } from "../mail/ports.ts";
import type { Delivery } from "../routing/delivery.ts";
import type { Routes } from "../routing/routes.ts";
import { isCall } from "../routing/calls.ts";
import { sendKindOf, type DeliveredSend } from "../routing/sends.ts";
import { CallDestination } from "./call.ts";
import type { Destination } from "./destination.ts";
import type { FailingWebhooks } from "./failing-webhooks.ts";
import type { InvocationPorts } from "./invocation.ts";
import type { Objects } from "./ports.ts";
import { emailSend } from "./send-email.ts";
import { httpSend } from "./send-http.ts";
import { s3Send } from "./send-s3.ts";
import { SendDestination } from "./send.ts";
import { SourceDestination } from "./source.ts";
import { Webhooks, type WebhookPorts } from "./webhook.ts";
import { WorkflowDestination } from "./workflow.ts";
import type { WorkflowQueues } from "./workflow-queues.ts";

export interface DestinationPorts extends WebhookPorts, InvocationPorts {
  /** Absent: `$.send.email` fails, because the installation sends no mails. */
  readonly mails?: OwnerMailer;
  /** Absent: `$.send.s3` fails, because the installation has no store. */
  readonly objects?: Objects;
}

export interface DestinationParts {
  readonly routes: Pick<Routes, "find" | "own">;
  readonly failing: Pick<FailingWebhooks, "disabled" | "record">;
  readonly queues: Pick<WorkflowQueues, "directRoute" | "store">;
}

/** Finds where deliveries go. Each destination is one file, and one line here. */
export class Destinations {
  readonly #ports: DestinationPorts;
  readonly #parts: DestinationParts;
  readonly #webhooks: Webhooks;
  readonly #sends: Readonly<Record<DeliveredSend, (delivery: Delivery) => Destination>>;

  constructor(ports: DestinationPorts, parts: DestinationParts) {
    this.#ports = ports;
    this.#parts = parts;
    this.#webhooks = new Webhooks(ports, parts.failing);
    const [http, email, s3] = [httpSend(ports.poster), emailSend(ports.mails), s3Send(ports.objects)];
    this.#sends = {
      http: (delivery) => new SendDestination(http, delivery, ports),
      email: (delivery) => new SendDestination(email, delivery, ports),
      s3: (delivery) => new SendDestination(s3, delivery, ports),
    };
  }

  /** The destination to which a route leads. */
  at({ listener, owner }: Pick<Route, "listener" | "owner">): Destination {
    switch (listener.kind) {
      case "webhook":
        return this.#webhooks.at(listener, owner);
      case "source":
        return new SourceDestination(listener, owner, this.#ports);
      case "workflow":
        return new WorkflowDestination(listener.id, owner, this.#parts.queues, this.#ports);
      default:
        return assertNever(listener);
    }
  }

  /** By the current routes: for a later attempt, or a send. Undefined: the subscription or its listener was deleted. */
  find(delivery: Delivery): Destination | undefined {
    if (isCall(delivery)) return new CallDestination(delivery.event.owner, this.#parts.routes, this.#parts.queues, this.#ports);
    const send = sendKindOf(delivery);
    return send === undefined ? this.#findByRoutes(delivery) : this.#sends[send](delivery);
  }

  /** By the entry of the webhook or workflow itself, which has its latest state, or by that of the subscription. */
  #findByRoutes({ subscription: id, listener, attemptsBefore }: Delivery): Destination | undefined {
    const { routes } = this.#parts;
    const [own, subscription] = [routes.own(listener), routes.find(id)];
    const isRedelivery = attemptsBefore !== undefined;
    const route = own ?? (isRedelivery ? undefined : subscription);
    if (route === undefined) return undefined;
    const destination = this.at(route);
    // Events that were accepted for a workflow stay when the subscription ends, and a redelivery does not need one.
    if (subscription !== undefined || isRedelivery || route.listener.kind === "workflow") return destination;
    // Webhooks that are not active have no subscriptions in the routes, and their deliveries become dead letters.
    return destination.refusal?.() === undefined ? undefined : destination;
  }
}
