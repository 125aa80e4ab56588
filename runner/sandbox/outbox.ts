/** One message of a guest; the kind is a text and the sequence a number, nothing else is known of it. */
export interface GuestMessage {
  readonly sequence: number;
  readonly kind: string;
  readonly args: readonly unknown[];
  /** The whole, for its weight. */
  readonly message: readonly unknown[];
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
