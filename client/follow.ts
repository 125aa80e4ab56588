import { EventSourceParserStream } from "eventsource-parser/stream";
import { ApiError, Unreachable } from "./errors.ts";

export interface ServerSentEvent {
  /** Present for what a later connection can continue after. */
  readonly id?: string | undefined;
  /** Type of the event; undefined for `message`. */
  readonly event?: string | undefined;
  readonly data: string;
}

/** State of the connection of a stream. */
export type ConnectionState = { readonly state: "connected" } | { readonly state: "lost"; readonly error: Error; readonly retryMs: number };

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Continues after this event. */
  readonly lastEventId?: string | undefined;
  readonly onState?: ((state: ConnectionState) => void) | undefined;
}

export type Connect = (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;

const minRetryMs = 500;
const maxRetryMs = 15_000;

/**
 * Yields the events of a stream until the signal aborts. Connects again after a lost connection, a 429 and a 5xx, with twice the delay each time,
 * and with the id of the last event. @throws ApiError when the API refuses the stream
 */
export async function* followEvents(connect: Connect, options: FollowOptions): AsyncGenerator<ServerSentEvent, void> {
  const { signal, onState = () => {} } = options;
  let { lastEventId } = options;
  let retryMs = minRetryMs;
  while (!signal.aborted) {
    try {
      const response = await connect(lastEventId, signal);
      retryMs = minRetryMs;
      onState({ state: "connected" });
      for await (const event of eventsOf(response)) {
        if (event.id !== undefined) lastEventId = event.id;
        yield event;
      }
      throw new Unreachable("the server ended the stream");
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      onState({ state: "lost", error, retryMs });
      await delay(retryMs, signal);
      retryMs = Math.min(retryMs * 2, maxRetryMs);
    }
  }
}

async function* eventsOf(response: Response): AsyncGenerator<ServerSentEvent, void> {
  if (response.body === null) return;
  const reader = response.body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>) // The types of Node and the DOM differ.
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Closes the connection when the caller stops reading.
    await reader.cancel().catch(() => {});
  }
}

/** Errors after which a later connection may succeed: anything but a refusal. */
function isTransient(error: unknown): error is Error {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof Error;
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
