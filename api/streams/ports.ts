import type { EmittedEvent } from "../../domain/event/emitted-event.ts";

/** A message on RUNS. `text` decodes the commit on request, because that is expensive. */
export interface RunMessage {
  /** `runs.<partition>.<owner>.<source>`: the source and its owner. The text could be forged by a runner. */
  readonly subject: string;
  /** Sequence in the stream. */
  readonly sequence: number;
  /** Size of the text. */
  readonly bytes: number;
  text(): string;
}

/** Maximum bytes that streams hold for readers that do not read. */
export interface UnreadLimits {
  /** Bytes of all streams of a user. */
  readonly perUser: number;
  /** Of all streams. Beyond it, the user with the most loses a stream. */
  readonly total: number;
}

export interface KeptSequences {
  readonly first: number;
  readonly last: number;
}

export interface StreamPorts {
  readonly runs: RunMessages;
  /** Calls back for each scheduled event that becomes due. Returns a function that stops that. Absent: there are none. */
  readonly followEmitted?: (onEvent: (event: EmittedEvent) => void) => () => void;
  /** Aborts when the process stops: then streams end, so that clients reconnect elsewhere and do not delay the stop. */
  readonly stopping: AbortSignal;
  /** Interval of comments on quiet streams. Default: 15 s, below the timeouts of proxies. */
  readonly keepAliveMs?: number;
  /** Maximum bytes queued for one reader. Default: 1 MiB. */
  readonly waitingBytes?: number;
  /** Maximum bytes queued for the readers of all streams. */
  readonly unread?: UnreadLimits;
}

/** Access to the stream RUNS for followers of sources. */
export interface RunMessages {
  /** Receives each new message, in order and without gaps, also after reconnects. @throws Unavailable */
  follow(onMessage: (message: RunMessage) => void): Promise<{ stop(): Promise<void> }>;
  /** The sequence up to which the history has all messages of the subject. @throws Unavailable */
  recordedUpTo(subject: string): Promise<number>;
  /** The first message of the subject, which may have wildcards, at or after the sequence, according to the stream's leader. @throws Unavailable */
  findNext(subject: string, sequence: number): Promise<RunMessage | undefined>;
  /** Sequences of the stream: `first`: the oldest kept message, or the next one if the stream is empty; `last`: the newest that was stored. @throws Unavailable */
  kept(): Promise<KeptSequences>;
}
