import type { EmittedEvent } from "../../domain/emitted-event.ts";

/** A commit as it lies on RUNS; its text costs something to decode, so it is asked for. */
export interface RunMessage {
  /** `runs.<partition>.<owner>.<source>`: whose it is. What the text says of itself, a runner could have made up. */
  readonly subject: string;
  /** In the stream. */
  readonly sequence: number;
  text(): string;
}

export interface StreamPorts {
  readonly runs: RunMessages;
  /** Calls back with each scheduled event that becomes due, until what it returns is called; absent: there are none. */
  readonly followEmitted?: (onEvent: (event: EmittedEvent) => void) => () => void;
  /** Aborts when the process stops: streams end then, so that their clients go elsewhere and nobody waits for them. */
  readonly stopping: AbortSignal;
  /** Every so often, in milliseconds, a quiet stream gets a comment: 15 s, below what proxies allow. */
  readonly keepAliveMs?: number;
  /** Bytes that may wait for one reader: 1 MiB. */
  readonly waitingBytes?: number;
}

/** The stream RUNS, as those who follow a source need it. */
export interface RunMessages {
  /** Each message from now on, in order and without gaps, across losses of the connection. @throws Unavailable */
  follow(onMessage: (message: RunMessage) => void): Promise<{ stop(): Promise<void> }>;
  /** Everything of the subject up to this sequence is in the history. @throws Unavailable */
  recordedUpTo(subject: string): Promise<number>;
  /** The first message of the subject at or behind the sequence, as the stream's leader has it. @throws Unavailable */
  findNext(subject: string, sequence: number): Promise<RunMessage | undefined>;
}
