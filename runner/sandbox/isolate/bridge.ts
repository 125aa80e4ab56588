import ivm from "isolated-vm";
import { toGuestError } from "./isolate-errors.ts";

/** One message of a guest. The kind is a text and the sequence a number; nothing else is known of it. */
export interface GuestMessage {
  readonly sequence: number;
  readonly kind: string;
  readonly args: readonly unknown[];
  /** The whole, for its weight. */
  readonly message: readonly unknown[];
}

/** What a guest reaches through its bridge. */
export interface GuestRequests {
  /** Must not throw. */
  takeMessages(messages: Iterable<GuestMessage>): void;
  /** @throws what the guest is to catch */
  performSync(operation: string, args: readonly unknown[]): unknown;
}

type Dispatch = ivm.Reference<(acknowledged: number, kind: string, ...args: unknown[]) => unknown>;

const bindTimeoutMs = 10_000;

/**
 * The host's end of the bridge into one context. Messages of the guest come back as the result of a call, or through one synchronous
 * callback when there are many. No Reference and no promise of ours is ever handed in.
 */
export class Bridge {
  readonly #requests: GuestRequests;
  #dispatch: Dispatch | undefined;
  #acknowledged = 0;
  #isInside = false;

  constructor(requests: GuestRequests) {
    this.#requests = requests;
  }

  /** Code of the guest runs now, so that it can be stopped only by disposing its isolate. */
  get isInside(): boolean {
    return this.#isInside;
  }

  /** Takes the guest's end, right after the prelude has run. */
  async bind(context: ivm.Context): Promise<void> {
    const callback = new ivm.Callback((...args: unknown[]) => this.#onCallback(args), { sync: true });
    const options = { result: { reference: true }, timeout: bindTimeoutMs } as const;
    this.#dispatch = await context.evalClosure("return globalThis.__bind($0)", [callback], options);
  }

  /** Enters the guest's handler of that kind, and takes the messages that it leaves. */
  async call(kind: string, args: readonly unknown[], timeoutMs: number): Promise<void> {
    const dispatch = this.#dispatch;
    if (dispatch === undefined) return;
    const call = [this.#acknowledged, kind, ...args] as Parameters<Dispatch["apply"]>[1];
    const options = { arguments: { copy: true }, result: { copy: true }, timeout: timeoutMs } as const;
    this.#takeOutbox(await this.inside(() => dispatch.apply(undefined, call, options)));
  }

  /** Runs code of the guest in another way than by a call. */
  async inside<Result>(act: () => Promise<Result>): Promise<Result> {
    this.#isInside = true;
    try {
      return await act();
    } finally {
      this.#isInside = false;
    }
  }

  release(): void {
    this.#dispatch?.release();
    this.#dispatch = undefined;
  }

  /** The synchronous callback: the only thing of ours the guest can call. Must not throw: the stack would cross. */
  #onCallback([operation, ...args]: readonly unknown[]): unknown {
    try {
      if (operation === "outbox") {
        this.#takeOutbox(args[0]);
        return this.#acknowledged;
      }
      return [true, this.#requests.performSync(String(operation), args)];
    } catch (error) {
      return [false, toGuestError(error)];
    }
  }

  #takeOutbox(outbox: unknown): void {
    this.#requests.takeMessages(this.#acknowledge(newMessages(outbox, this.#acknowledged)));
  }

  *#acknowledge(messages: Iterable<GuestMessage>): Generator<GuestMessage> {
    for (const message of messages) {
      this.#acknowledged = message.sequence;
      yield message;
    }
  }
}

/** Messages of an outbox after the one acknowledged last: the guest hands over again what it does not know to have arrived. */
export function* newMessages(outbox: unknown, acknowledged: number): Generator<GuestMessage> {
  if (!Array.isArray(outbox)) return;
  let last = acknowledged;
  for (const message of outbox as unknown[]) {
    if (!Array.isArray(message)) continue;
    const [sequence, kind, ...args] = message as unknown[];
    if (typeof sequence !== "number" || typeof kind !== "string" || !(sequence > last)) continue;
    last = sequence;
    yield { sequence, kind, args, message };
  }
}
