/** What became of the events since the last report. */
export interface Received {
  readonly received: number;
  /** Deliveries of an event that was received before. */
  readonly doubled: number;
  /** Of all events so far, those that have not been received yet. */
  readonly waiting: number;
}

/** Which events were sent, and which of them were received. A body is `{ id }`. */
export class EventLedger {
  /** By id; undefined when the event was received. */
  readonly #sent = new Map<string, (() => void) | undefined>();
  #received = 0;
  #doubled = 0;
  #waiting = 0;

  sent(id: string, onReceived: () => void): void {
    this.#sent.set(id, onReceived);
    this.#waiting++;
  }

  /** Ignores events that were not sent by this process. */
  onBody(body: string): void {
    const { id } = JSON.parse(body) as { id: string }; // The bench's own events.
    if (!this.#sent.has(id)) return;
    const onReceived = this.#sent.get(id);
    if (onReceived === undefined) return void this.#doubled++;
    this.#sent.set(id, undefined);
    this.#received++;
    this.#waiting--;
    onReceived();
  }

  report(): Received {
    const report = { received: this.#received, doubled: this.#doubled, waiting: this.#waiting };
    [this.#received, this.#doubled] = [0, 0];
    return report;
  }
}
