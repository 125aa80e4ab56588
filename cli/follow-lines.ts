import type { ConnectionState, FollowOptions, ServerSentEvent } from "../client/follow.ts";
import type { Context } from "./context.ts";

interface Shown {
  readonly value: unknown;
  readonly lines: (value: unknown) => readonly string[];
}

/** Prints each event of a stream, except those for which `show` returns undefined, until a signal, and notes when the connection is lost and back. */
export async function followLines(
  { out, signal }: Context,
  open: (options: FollowOptions) => AsyncGenerator<ServerSentEvent, void>,
  show: (frame: ServerSentEvent) => Shown | undefined,
): Promise<void> {
  let isLost = false;
  const onState = (state: ConnectionState): void => {
    if (state.state === "lost" && !isLost) out.note(`hw: the connection is lost, connecting again (${state.error.message})`);
    if (state.state === "connected" && isLost) out.note("hw: connected again");
    isLost = state.state === "lost";
  };
  for await (const frame of open({ signal, onState })) {
    const shown = show(frame);
    if (shown !== undefined) await out.record(shown.value, () => shown.lines(shown.value));
  }
}
