import { get, type IncomingMessage } from "node:http";
import { expect } from "vitest";
import type { ApiConfig } from "../../../api/config.ts";
import type { Commit } from "../../../domain/run/commit.ts";
import type { CommittedEvent } from "../../../domain/event/committed-event.ts";
import { emptyState } from "../../../domain/run/commit.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { runSubject, streams, workflowRunSubject } from "../../../domain/subjects.ts";
import type { UnreadLimits } from "../../../api/streams/ports.ts";
import type { Connection } from "../../../platform/jetstream/connection/connection.ts";
import type { History } from "../../../platform/postgres/history/index.ts";
import { followEmitted } from "../../../platform/jetstream/runs/emitted-events.ts";
import { readRunMessages } from "../../../platform/jetstream/runs/live-runs.ts";
import { keys, withApi, type TestApi } from "./support.ts";
import { withJetStream, type TestJetStream } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";

export interface StreamingApi {
  readonly api: TestApi;
  readonly nats: TestJetStream;
  readonly world: World;
  /** What the end of the process aborts. */
  readonly stopping: AbortController;
}

/** The API with its streams, over a real Postgres and a real nats-server. */
export function withStreamingApi(
  options: { readonly keepAliveMs: number; readonly waitingBytes: number; readonly unread?: UnreadLimits },
  config: Partial<ApiConfig> = {},
): StreamingApi {
  const nats = withJetStream();
  const stopping = new AbortController();
  const runMessages = () => readRunMessages(nats.connection, (stream) => api.history.readPositions(stream));
  const api: TestApi = withApi(config, {
    streams: {
      ...options,
      stopping: stopping.signal,
      followEmitted: (onEvent) => followEmitted(nats.connection, onEvent),
      // Once for each call: there is no connection before the tests begin.
      runs: {
        follow: (onMessage) => runMessages().follow(onMessage),
        recordedUpTo: (subject) => runMessages().recordedUpTo(subject),
        findNext: (subject, sequence) => runMessages().findNext(subject, sequence),
        kept: () => runMessages().kept(),
      },
    },
  });
  const world = new World(
    () => nats.connection,
    () => api.history,
  );
  return { api, nats, world, stopping };
}

export interface Message {
  readonly id: string | undefined;
  /** Absent for `message`. */
  readonly event?: string;
  readonly data: unknown;
}

export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  /** All that has come, as text. */
  text(): string;
  messages(): readonly Message[];
  ids(): readonly (string | undefined)[];
  /** Waits until the server has ended it. */
  ended(): Promise<void>;
  close(): void;
}

/** Waits for as many messages, which are to be these. */
export async function shows(stream: OpenStream, ids: readonly string[]): Promise<void> {
  await until(() => stream.ids().length >= ids.length, `${ids.join()} in ${stream.ids().join()}`);
  expect(stream.ids()).toEqual(ids);
}

/** A reader that notes what comes: comments too, which no EventSource shows. */
export async function openStream(
  url: string,
  path: string,
  { key = keys.ada, headers = {} }: { readonly key?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<OpenStream> {
  const closing = new AbortController();
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}`, ...headers }, signal: closing.signal });
  let text = "";
  let rest = "";
  const messages: Message[] = [];
  let isOver = false;
  const reading = (async () => {
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      text += chunk;
      rest += chunk;
      const whole = rest.slice(0, rest.lastIndexOf("\n\n") + 2);
      if (!rest.includes("\n\n")) continue;
      rest = rest.slice(whole.length);
      messages.push(...messagesOf(whole));
    }
  })().then(
    () => (isOver = true),
    () => undefined,
  );
  void reading; // Ends with the stream.
  return {
    status: response.status,
    headers: response.headers,
    text: () => text,
    messages: () => messages,
    ids: () => messages.map(({ id }) => id),
    ended: () => until(() => isOver, "the stream ends"),
    close: () => closing.abort(),
  };
}

/** A reader that takes nothing until the test reads the response. */
export const openUnread = (url: string, source: string, given: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> =>
  openUnreadAt(`${url}/v1/sources/${source}/sse`, given);

/** The same for any stream. */
export function openUnreadAt(url: string, given: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${keys.ada}`, ...given };
    get(url, { headers, agent: false }, resolve).on("error", reject);
  });
}

export function messagesOf(text: string): readonly Message[] {
  const blocks = text.split("\n\n").slice(0, -1);
  return blocks.flatMap((block) => {
    const lines = block.split("\n");
    const data = lines.find((line) => line.startsWith("data: "));
    const id = lines.find((line) => line.startsWith("id: "))?.slice(4);
    const event = lines.find((line) => line.startsWith("event: "))?.slice(7);
    return data === undefined ? [] : [{ id, data: JSON.parse(data.slice(6)) as unknown, ...(event === undefined ? {} : { event }) }];
  });
}

let runs = 0;

/** What a run of the source leaves. */
export function commitOf(source: string, owner: string, events: readonly CommittedEvent[], given: Partial<Commit> = {}): Commit {
  return {
    source,
    owner,
    deployment: "d_1",
    run: { id: `r_run${++runs}`, trigger: "manual", generation: 1, startedAt: 1_700_000_000_000, durationMs: 5, cpuMs: 2, result: null },
    events,
    logs: [],
    error: null,
    state: emptyState,
    ...given,
  };
}

/** Stands for runner and recorder, each at the pace of the test. */
export class World {
  readonly #connection: () => Connection;
  readonly #history: () => History;
  #unrecorded: { readonly seq: number; readonly commit: Commit }[] = [];

  constructor(connection: () => Connection, history: () => History) {
    this.#connection = connection;
    this.#history = history;
  }

  async commit(commit: Commit): Promise<void> {
    const { source, owner, run, workflow } = commit;
    const partition = partitionOf(source);
    const subject = workflow === undefined ? runSubject(partition, owner, source) : workflowRunSubject(partition, owner, source, run.id);
    const { seq } = await this.#connection().publisher.publish(subject, JSON.stringify(commit));
    this.#unrecorded.push({ seq, commit });
  }

  /** The oldest that are not recorded yet. */
  async record(most = Infinity): Promise<void> {
    const batch = this.#unrecorded.slice(0, most);
    this.#unrecorded = this.#unrecorded.slice(batch.length);
    const { created } = await this.#connection().manager.streams.info(streams.runs);
    await this.#history().recordCommits(`${streams.runs}@${created}`, batch);
  }
}
