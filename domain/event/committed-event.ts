/** An event in the commit of its run. */
export interface CommittedEvent {
  /** `<epoch ms>-<sequence>`; grows strictly within a source. */
  readonly id: string;
  /** Globally unique and stable over retries: webhook-id, message ids. */
  readonly emitId: string;
  /** "" is the default channel. */
  readonly channel: string;
  /** The id given to `$emit`, as a string. */
  readonly dedupeId: string | null;
  readonly summary: string | null;
  /** Epoch ms given to `$emit`, or the time of the emit. */
  readonly ts: number;
  /** Epoch ms before which it must not be delivered (`delivery_ts`); see domain/schedule/scheduled-event.ts. */
  readonly deliverAt?: number;
  /** JSON text of the emitted value. */
  readonly payload: string;
}

/** The channels of errors and logs of runs, to which components cannot emit. */
export const isDerived = (channel: string | undefined): channel is "$errors" | "$logs" => channel === "$errors" || channel === "$logs";
