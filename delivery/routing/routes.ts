import { canHearItself, RouteIndex } from "../../domain/event/subscription-match.ts";
import { isRoutedInOrder, type CommitPosition, type Route, type RouteListener } from "../../domain/source/deployment.ts";
import type { RoutedEvent } from "./delivery.ts";

export type Webhook = Extract<RouteListener, { kind: "webhook" }>;

/** The current routes of subscriptions, found by event or id, and the webhooks, found by id. A webhook has an entry of its own. */
export class Routes {
  readonly #index = new RouteIndex();
  readonly #byId = new Map<string, Route>();
  /** Subscriptions of webhooks that are routed in order. */
  readonly #inOrder = new Set<string>();

  set(subscription: string, route: Route | undefined): void {
    if (route === undefined) {
      this.#index.remove(subscription);
      this.#byId.delete(subscription);
      this.#inOrder.delete(subscription);
      return;
    }
    const isOwnEntry = route.emitter === route.listener.id;
    if (isRoutedInOrder(route) && !isOwnEntry) this.#inOrder.add(subscription);
    else this.#inOrder.delete(subscription);
    if (!isOwnEntry || listensToItself(route)) this.#index.set(route);
    this.#byId.set(subscription, route);
  }

  find(subscription: string): Route | undefined {
    return this.#byId.get(subscription);
  }

  /** A webhook from its own entry; undefined if it was deleted. Nothing may be posted to a webhook without keys. */
  webhook(id: string): Webhook | undefined {
    const listener = this.#byId.get(id)?.listener;
    return listener?.kind === "webhook" && listener.id === id ? listener : undefined;
  }

  /** Whether any subscription is routed in order. */
  get hasOrdered(): boolean {
    return this.#inOrder.size > 0;
  }

  /** Whether the webhook is, or ever was, ordered. */
  wasOrdered(webhook: string): boolean {
    const own = this.#byId.get(webhook);
    return own !== undefined && isRoutedInOrder(own);
  }

  isRoutedInOrder(subscription: string): boolean {
    return this.#inOrder.has(subscription);
  }

  /**
   * The routes for the events of a commit: without subscriptions that are newer than the commit, and only those that are routed in
   * order, or only the others. A replica that learns of `orderedSince` too late routes an event twice rather than not at all.
   */
  at(position: CommitPosition, by: "direct" | "ordered"): Pick<Routes, "listeners"> {
    const isRoutedHere = (route: Route): boolean => isOrderedAt(route, position) === (by === "ordered");
    return { listeners: (event) => this.listeners(event).filter((route) => !isUpTo(position, route.after) && isRoutedHere(route)) };
  }

  /** A source that listens to all sources of its owner does not receive its own events: each would cause another. */
  listeners(event: Pick<RoutedEvent, "source" | "owner" | "channel">): readonly Route[] {
    const listeners = this.#index.listeners({ emitter: event.source, owner: event.owner, channel: event.channel });
    return listeners.filter((route) => route.listener.id !== event.source || listensToItself(route));
  }
}

/** Whether a subscription names one source as emitter and as listener. The own entry of a webhook looks alike, and routes no events. */
const listensToItself = ({ emitter, listener, channel }: Route): boolean =>
  listener.kind === "source" && emitter === listener.id && canHearItself(channel);

const isOrderedAt = (route: Route, position: CommitPosition): boolean => isRoutedInOrder(route) && !isUpTo(position, route.orderedSince);

function isUpTo({ stream, seq }: CommitPosition, last: CommitPosition | undefined): boolean {
  return last?.stream === stream && seq <= last.seq;
}
