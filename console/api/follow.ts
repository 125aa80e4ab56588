import { useEffect, useRef, useState } from "react";
import type { Arguments, StreamId } from "../../client/client.ts";
import { ApiError } from "../../client/errors.ts";
import type { ConnectionState } from "../../client/follow.ts";
import { api } from "./queries.ts";
import { reportError } from "./query-client.ts";
import { Tail, type TailView } from "./tail.ts";

export interface Followed<Item> extends TailView<Item> {
  readonly connection: "connecting" | "connected" | "lost" | "refused";
  /** Why it was refused. */
  readonly error: Error | undefined;
  /** What the API answers while it cannot be connected again, such as that too many streams are open. */
  readonly lostBecause: Error | undefined;
}

interface FollowOptions<Item> {
  /** Undefined: the event is not shown. @param type absent for `message` */
  readonly parse: (data: string, id: string | undefined, type: string | undefined) => Item | undefined;
  readonly isPaused: boolean;
  /** Id of the event behind which the stream begins; by default with the next one. */
  readonly after?: string | undefined;
}

const maxItems = 500;
/** Items that arrive within this time are shown together, so that hundreds a second cost few renders. */
const gatherMs = 50;
const empty = { items: [], received: 0, waiting: 0 } as const;

/** Follows a stream while the component is mounted; continues after the last event when the connection is lost. */
export function useFollow<Item, Id extends StreamId>(
  id: Id,
  args: Arguments<Id>,
  { parse, isPaused, after }: FollowOptions<Item>,
): Followed<Item> {
  const [view, setView] = useState<TailView<Item>>(empty);
  const [connection, setConnection] = useState<Followed<Item>["connection"]>("connecting");
  const [refusal, setRefusal] = useState<Error | undefined>(undefined);
  const [lostBecause, setLostBecause] = useState<Error | undefined>(undefined);
  const tail = useRef<Tail<Item> | undefined>(undefined);
  const latest = useRef({ parse, isPaused });
  useEffect(() => {
    const hasContinued = latest.current.isPaused && !isPaused;
    latest.current = { parse, isPaused };
    if (hasContinued && tail.current !== undefined) setView(tail.current.view(false));
  }, [parse, isPaused]);
  const key = JSON.stringify(args);
  useEffect(() => {
    const ended = new AbortController();
    const current = new Tail<Item>(maxItems);
    tail.current = current;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      timer = undefined;
      setView(current.view(latest.current.isPaused));
    };
    const follow = async (): Promise<void> => {
      const options = {
        signal: ended.signal,
        lastEventId: after,
        onState: (state: ConnectionState) => {
          setConnection(state.state);
          setLostBecause(state.state === "lost" && state.error instanceof ApiError ? state.error : undefined);
        },
      };
      for await (const event of api.follow(id, JSON.parse(key) as Arguments<Id>, options)) {
        const item = latest.current.parse(event.data, event.id, event.event);
        if (item === undefined) continue;
        current.add(item);
        timer ??= setTimeout(show, gatherMs);
      }
    };
    follow().catch((error: unknown) => {
      reportError(error);
      setConnection("refused");
      setRefusal(error instanceof Error ? error : new Error(String(error)));
    });
    return () => {
      ended.abort();
      clearTimeout(timer);
      setView(empty);
      setConnection("connecting");
      setRefusal(undefined);
      setLostBecause(undefined);
    };
  }, [id, key, after]);
  return { ...view, connection, error: refusal, lostBecause };
}
