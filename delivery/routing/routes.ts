import { canHearItself, RouteIndex } from "../../domain/event/subscription-match.ts";
import type { CommitPosition, Route, RouteListener } from "../../domain/source/deployment.ts";
import type { RoutedEvent } from "./delivery.ts";

export type Webhook = Extract<RouteListener, { kind: "webhook" }>;

/** A route to a workflow that is deployed and active: its events become invocations. */
interface ActiveWorkflowRoute extends Pick<Route, "owner"> {
  readonly listener: Extract<RouteListener, { kind: "workflow" }> & { readonly pool: string };
}

/** The current routes of subscriptions, found by event or id, and the webhooks and workflows, found by id. These have entries of their own. */
export class Routes {
  readonly #index = new RouteIndex();
  readonly #byId = new Map<string, Route>();
  /** Subscriptions that lead to an active workflow, by workflow. */
  readonly #active = new Map<string, Map<string, ActiveWorkflowRoute>>();

  set(subscription: string, route: Route | undefined): void {
    this.#setActive(subscription, route);
    if (route === undefined) {
      this.#index.remove(subscription);
      this.#byId.delete(subscription);
      return;
    }
    if (route.emitter !== route.listener.id || listensToItself(route)) this.#index.set(route);
    this.#byId.set(subscription, route);
  }

  find(subscription: string): Route | undefined {
    return this.#byId.get(subscription);
  }

  /** The entry of a webhook or workflow itself; undefined if it was deleted, or the workflow was never deployed. */
  own(id: string): Route | undefined {
    const route = this.#byId.get(id);
    return route?.listener.id === id ? route : undefined;
  }

  /** A webhook from its own entry; undefined if it was deleted. Nothing may be posted to a webhook without keys. */
  webhook(id: string): Webhook | undefined {
    const listener = this.own(id)?.listener;
    return listener?.kind === "webhook" ? listener : undefined;
  }

  /** A route to the workflow; undefined while it is not active, or has neither an entry of its own nor a subscription. */
  activeWorkflow(id: string): ActiveWorkflowRoute | undefined {
    return this.#active.get(id)?.values().next().value;
  }

  #setActive(subscription: string, route: Route | undefined): void {
    const before = this.#byId.get(subscription)?.listener.id;
    const routes = before === undefined ? undefined : this.#active.get(before);
    if (before !== undefined && routes?.delete(subscription) === true && routes.size === 0) this.#active.delete(before);
    if (route === undefined || !isActiveWorkflow(route)) return;
    const ofWorkflow = this.#active.get(route.listener.id) ?? new Map<string, ActiveWorkflowRoute>();
    this.#active.set(route.listener.id, ofWorkflow.set(subscription, route));
  }

  /** The routes for the events of a commit, without subscriptions that are newer than the commit. */
  at(position: CommitPosition): Pick<Routes, "listeners"> {
    return { listeners: (event) => this.listeners(event).filter((route) => !isUpTo(position, route.after)) };
  }

  /** A source or workflow that listens to all of its owner does not receive its own events: each would cause another. */
  listeners(event: Pick<RoutedEvent, "source" | "owner" | "channel">): readonly Route[] {
    const listeners = this.#index.listeners({ emitter: event.source, owner: event.owner, channel: event.channel });
    return listeners.filter((route) => route.listener.id !== event.source || listensToItself(route));
  }
}

const isActiveWorkflow = (route: Route): route is Route & ActiveWorkflowRoute =>
  route.listener.kind === "workflow" && route.listener.pool !== undefined;

/**
 * Whether a subscription names one source or workflow as emitter and as listener. The own entry of a webhook or workflow looks alike, and routes no
 * events.
 */
const listensToItself = ({ emitter, listener, channel }: Route): boolean =>
  listener.kind !== "webhook" && emitter === listener.id && canHearItself(channel);

function isUpTo({ stream, seq }: CommitPosition, last: CommitPosition | undefined): boolean {
  return last?.stream === stream && seq <= last.seq;
}
