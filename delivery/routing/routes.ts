import { isRoutedInOrder, type CommitPosition, type Route, type RouteListener } from "../../domain/source/deployment.ts";
import { canHearItself, RouteIndex } from "../../domain/event/subscription-match.ts";
import type { RoutedEvent } from "./delivery.ts";

export type Webhook = Extract<RouteListener, { kind: "webhook" }>;

/** The subscriptions as they are now, found by what they listen to and by their id; and the webhooks, by theirs. */
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
    // A webhook's own entry routes no events.
    if (isRoutedInOrder(route) && route.emitter !== route.listener.id) this.#inOrder.add(subscription);
    else this.#inOrder.delete(subscription);
    if (route.emitter !== route.listener.id || hearsItself(route)) this.#index.set(route);
    this.#byId.set(subscription, route);
  }

  find(subscription: string): Route | undefined {
    return this.#byId.get(subscription);
  }

  /** A webhook by its own entry, which nobody's events go by; without keys nothing may be posted to it. Undefined: it is gone. */
  webhook(id: string): Webhook | undefined {
    const listener = this.#byId.get(id)?.listener;
    return listener?.kind === "webhook" && listener.id === id ? listener : undefined;
  }

  /** Whether there is anything to route in order. */
  get hasOrdered(): boolean {
    return this.#inOrder.size > 0;
  }

  /** Whether the webhook is ordered, or was at some time. */
  wasOrdered(webhook: string): boolean {
    const own = this.#byId.get(webhook);
    return own !== undefined && isRoutedInOrder(own);
  }

  isRoutedInOrder(subscription: string): boolean {
    return this.#inOrder.has(subscription);
  }

  /**
   * For what a commit emitted: without those that were made after it, and either those that are routed in order or the others. Where
   * `orderedSince` is known too late, an event is routed twice, and not left out.
   */
  at(position: CommitPosition, way: "direct" | "ordered"): Pick<Routes, "listeners"> {
    const goes = (route: Route): boolean => (isOrderedAt(route, position) ? way === "ordered" : way === "direct");
    return { listeners: (event) => this.listeners(event).filter((route) => !isUpTo(position, route.after) && goes(route)) };
  }

  /** A source that listens to all sources of its owner does not hear itself: each of its events would make another. */
  listeners(event: Pick<RoutedEvent, "source" | "owner" | "channel">): readonly Route[] {
    const listeners = this.#index.listeners({ emitter: event.source, owner: event.owner, channel: event.channel });
    return listeners.filter((route) => route.listener.id !== event.source || hearsItself(route));
  }
}

/** Only a subscription that names the source at both ends; a webhook's own entry does that, too, and routes no events. */
const hearsItself = ({ emitter, listener, channel }: Route): boolean =>
  listener.kind === "source" && emitter === listener.id && canHearItself(channel);

const isOrderedAt = (route: Route, position: CommitPosition): boolean => isRoutedInOrder(route) && !isUpTo(position, route.orderedSince);

function isUpTo({ stream, seq }: CommitPosition, last: CommitPosition | undefined): boolean {
  return last?.stream === stream && seq <= last.seq;
}
