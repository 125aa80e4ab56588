import { guest } from "../globals.ts";

type Subscriber = (message: unknown, name: string | symbol) => void;
type Work = (...args: unknown[]) => unknown;

class Channel {
  readonly name: string | symbol;
  #subscribers: Subscriber[] = [];
  constructor(name: string | symbol) {
    this.name = name;
  }
  get hasSubscribers(): boolean {
    return this.#subscribers.length > 0;
  }
  subscribe(subscriber: Subscriber): void {
    this.#subscribers = [...this.#subscribers, subscriber];
  }
  unsubscribe(subscriber: Subscriber): boolean {
    const before = this.#subscribers.length;
    this.#subscribers = this.#subscribers.filter((one) => one !== subscriber);
    return this.#subscribers.length < before;
  }
  publish(message: unknown): void {
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(message, this.name);
      } catch (error) {
        guest.queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
  bindStore(): void {}
  unbindStore(): boolean {
    return false;
  }
  runStores(message: unknown, work: Work, self?: unknown, ...args: unknown[]): unknown {
    this.publish(message);
    return Reflect.apply(work, self, args);
  }
}

const channels = new Map<string | symbol, Channel>();

function channel(name: string | symbol): Channel {
  const known = channels.get(name) ?? new Channel(name);
  channels.set(name, known);
  return known;
}

const events = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;
type Channels = Record<(typeof events)[number], Channel>;

function tracingChannel(name: string | Channels): object {
  const all =
    typeof name === "string" ? (Object.fromEntries(events.map((event) => [event, channel(`tracing:${name}:${event}`)])) as Channels) : name;
  const traced = (work: Work, context: Record<string, unknown> = {}, self?: unknown, ...args: unknown[]): unknown => {
    all.start.publish(context);
    try {
      const result = Reflect.apply(work, self, args);
      context["result"] = result;
      return result;
    } catch (error) {
      context["error"] = error;
      all.error.publish(context);
      throw error;
    } finally {
      all.end.publish(context);
    }
  };
  return {
    ...all,
    get hasSubscribers() {
      return events.some((event) => all[event].hasSubscribers);
    },
    subscribe: (handlers: Partial<Record<string, Subscriber>>) =>
      events.forEach((event) => handlers[event] !== undefined && all[event].subscribe(handlers[event])),
    unsubscribe: (handlers: Partial<Record<string, Subscriber>>) =>
      events.every((event) => handlers[event] === undefined || all[event].unsubscribe(handlers[event])),
    traceSync: traced,
    tracePromise: async (work: Work, context: Record<string, unknown> = {}, self?: unknown, ...args: unknown[]) => {
      try {
        return await traced(work, context, self, ...args);
      } finally {
        all.asyncStart.publish(context);
        all.asyncEnd.publish(context);
      }
    },
    traceCallback: (work: Work, _position: number, context?: Record<string, unknown>, self?: unknown, ...args: unknown[]) =>
      traced(work, context, self, ...args),
  };
}

/** `node:diagnostics_channel`. */
export default {
  channel,
  tracingChannel,
  Channel,
  hasSubscribers: (name: string | symbol): boolean => channels.get(name)?.hasSubscribers ?? false,
  subscribe: (name: string | symbol, subscriber: Subscriber): void => channel(name).subscribe(subscriber),
  unsubscribe: (name: string | symbol, subscriber: Subscriber): boolean => channel(name).unsubscribe(subscriber),
};
