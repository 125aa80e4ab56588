import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../../client/client.ts";
import type { ConnectionState, ServerSentEvent } from "../../client/follow.ts";
import { ApiError } from "../../client/errors.ts";
import type { Event } from "../../client/generated/operations.ts";
import type { Context } from "../context.ts";
import { failureOf } from "../failure.ts";
import { onOneLine } from "../output/events.ts";
import { timeOfDay } from "../output/time.ts";
import { post } from "./post.ts";
import { deliveryHeaders, type SigningKey } from "./signature.ts";
import { shownTarget } from "./target.ts";
import { wantedBy, type Wanted } from "./wanted.ts";

export interface ListenOptions {
  readonly webhook: string;
  readonly target: URL;
  readonly key: SigningKey | undefined;
}

/** Streams that have an end of their own: each channel of `$errors` and `$logs`, and one for all others. */
const derived = ["$errors", "$logs"] as const;
type Followed = (typeof derived)[number] | "events";

/** A user may have 1,000 streams. */
const maxStreams = 100;
const refreshMs = 10_000;
/** Scheduled events have no place in a stream, and may come again after a lost connection. */
const maxRemembered = 1_000;

/** `hw listen` from its start to Ctrl-C: one stream for each emitter, whose events are posted one after the other. */
export class ListenSession {
  readonly #context: Context;
  readonly #options: ListenOptions;
  readonly #streams = new Map<string, AbortController>();
  readonly #lost = new Set<string>();
  readonly #sent = new Set<string>();
  readonly #refused = new Set<string>();
  /** Ids of the last events of the streams, also of those that were refused in between. */
  readonly #positions = new Map<string, string>();
  readonly #following = new Set<Promise<void>>();
  #wanted: Wanted = new Map();
  #isCut = false;

  constructor(context: Context, options: ListenOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Resolves when the signal aborts. @throws ApiError if the subscriptions cannot be read */
  async run(): Promise<void> {
    const { signal, out, client } = this.#context;
    const { webhook, target } = this.#options;
    this.#wanted = await wantedBy(client, webhook);
    await this.#follow();
    if (this.#wanted.size === 0) out.note(`hw: nothing is delivered to ${webhook} yet: \`hw subscribe <source> ${webhook}\``);
    out.note(`hw: listening: events for ${webhook} go to ${shownTarget(target)}. Ctrl-C ends it`);
    try {
      while (!signal.aborted) {
        await sleep(refreshMs, undefined, { signal }).catch(() => undefined); // It rejects when the signal aborts.
        await this.#refresh();
      }
    } finally {
      for (const stream of this.#streams.values()) stream.abort();
      await Promise.all(this.#following);
    }
  }

  async #refresh(): Promise<void> {
    const { signal, client } = this.#context;
    if (signal.aborted) return;
    try {
      const { webhook } = this.#options;
      // Throws once the webhook is deleted.
      await client.call("getWebhook", { path: { id: webhook } });
      this.#wanted = await wantedBy(client, webhook);
      await this.#follow();
    } catch (error) {
      // Open streams stay open: the server may be back the next time.
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) throw error;
    }
  }

  /** Opens the streams that are missing, and closes those that nothing wants. Resolves when the new ones have a connection, or have lost it. */
  async #follow(): Promise<void> {
    const all = [...this.#wanted].flatMap(([emitter, channels]) => followedOf(channels).map((followed) => ({ emitter, followed })));
    if (all.length > maxStreams && !this.#isCut)
      this.#context.out.note(
        `hw: ${all.length} streams would be needed, and ${maxStreams} are followed: name fewer sources in the subscriptions`,
      );
    this.#isCut = all.length > maxStreams;
    const keyed = new Map(all.slice(0, maxStreams).map((each) => [`${each.emitter} ${each.followed}`, each]));
    for (const [key, stream] of this.#streams) if (!keyed.has(key)) stream.abort();
    const opened = [...keyed].flatMap(([key, { emitter, followed }]) => {
      if (this.#streams.has(key)) return [];
      const begun = Promise.withResolvers<void>();
      const following = this.#followOne(key, emitter, followed, begun.resolve).finally(() => {
        this.#following.delete(following);
        begun.resolve();
      });
      this.#following.add(following);
      return [begun.promise];
    });
    await Promise.all(opened);
  }

  /** Never rejects. */
  async #followOne(key: string, emitter: string, followed: Followed, onBegun: () => void): Promise<void> {
    const { client, signal, out } = this.#context;
    const own = new AbortController();
    this.#streams.set(key, own);
    const onState = (state: ConnectionState): void => {
      this.#note(key, state);
      onBegun();
    };
    const query = followed === "events" ? {} : { event_name: followed };
    try {
      // From a known event on, so that a connection that is lost before the first event of the session loses none either.
      const lastEventId = this.#positions.get(key) ?? (followed === "events" ? await newestEvent(client, emitter) : undefined);
      const options = { signal: AbortSignal.any([signal, own.signal]), onState, lastEventId };
      const frames = emitter.startsWith("p_")
        ? client.follow("streamWorkflowEvents", { path: { workflow_id: emitter }, query }, options)
        : client.follow("streamEvents", { path: { id: emitter }, query }, options);
      for await (const frame of frames) {
        await this.#forward(emitter, frame, options.signal);
        if (frame.id !== undefined && followed === "events") this.#positions.set(key, frame.id);
      }
    } catch (error) {
      if (!this.#refused.has(key)) out.note(`hw: ${emitter} is not followed: ${failureOf(error).message}`);
      this.#refused.add(key);
    } finally {
      this.#lost.delete(key);
      this.#streams.delete(key);
    }
  }

  /** Says once that connections are lost, and once that all are back. */
  #note(key: string, state: ConnectionState): void {
    const { out } = this.#context;
    const wasLost = this.#lost.size > 0;
    if (state.state === "lost") {
      this.#lost.add(key);
      if (!wasLost) out.note(`hw: the connection is lost, connecting again (${state.error.message})`);
    } else {
      this.#lost.delete(key);
      this.#refused.delete(key);
      if (wasLost && this.#lost.size === 0) out.note("hw: connected again");
    }
  }

  async #forward(emitter: string, { data }: ServerSentEvent, signal: AbortSignal): Promise<void> {
    const { event, metadata } = JSON.parse(data) as Event; // As the document of the stream says.
    const channel = metadata.name ?? "";
    const { emit_id: id } = metadata;
    const payload = payloadOf(emitter, channel, event);
    if (this.#wanted.get(emitter)?.has(channel) !== true || payload === undefined || this.#wasSent(`${emitter} ${id}`)) return;
    const body = JSON.stringify(payload.value);
    const atMs = Date.now();
    const headers = deliveryHeaders({ id, emitter, atMs, body }, this.#options.key);
    const posted = await post(this.#options.target, { headers, body, signal });
    if (signal.aborted) return;
    const value = { emit_id: id, emitter_id: emitter, event_name: channel, at_ms: atMs, ...fieldsOf(posted) };
    const shown = channel === "" ? "" : ` [${channel}]`;
    const result = posted.error === null ? `${posted.status} in ${posted.durationMs}ms` : `failed: ${posted.error}`;
    await this.#context.out.record(value, () => [onOneLine(`${timeOfDay(atMs)} ${emitter}${shown} ${id} → ${result}`)]);
  }

  #wasSent(id: string): boolean {
    if (this.#sent.has(id)) return true;
    this.#sent.add(id);
    const [oldest] = this.#sent;
    if (this.#sent.size > maxRemembered && oldest !== undefined) this.#sent.delete(oldest);
    return false;
  }
}

/** The id after which new events come. */
async function newestEvent(client: Client, emitter: string): Promise<string> {
  const query = { limit: 1 };
  const { data } = emitter.startsWith("p_")
    ? await client.call("listWorkflowEvents", { path: { workflow_id: emitter }, query })
    : await client.call("listEvents", { path: { id: emitter }, query });
  return data[0]?.id ?? "0-0";
}

function followedOf(channels: ReadonlySet<string>): readonly Followed[] {
  const own = derived.filter((each) => channels.has(each));
  return own.length < channels.size ? ["events", ...own] : own;
}

/** What a webhook would get; undefined: `$.send.sse` of a workflow has sent it, which is no event. */
function payloadOf(emitter: string, channel: string, event: unknown): { readonly value: unknown } | undefined {
  if (!emitter.startsWith("p_") || derived.some((each) => each === channel)) return { value: event };
  return typeof event === "object" && event !== null && "raw_event" in event ? { value: event.raw_event } : undefined;
}

const fieldsOf = ({ status, durationMs, error }: Awaited<ReturnType<typeof post>>) => ({
  response_status: status,
  duration_ms: durationMs,
  cause: error,
});
