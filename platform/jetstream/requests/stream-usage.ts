import { z } from "zod";
import { chargeOf } from "../../../domain/files/run-files.ts";
import { filesOfOwner, fileUsageSubject, partsOfFilePart, stateUsageSubject, streams } from "../../../domain/subjects.ts";
import type { OwnerUsage } from "../../../runner/commit/ports.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { followFrom } from "../read/follow.ts";
import { sharedUsage } from "../streams/stream-limits.ts";
import { request, serve, type Service } from "./request-reply.ts";

/** Approximate size of a stored message besides its body: subject, headers, and what NATS adds. */
const overheadBytes = 256;

const usageRequest = z.object({ moreBytes: z.number() });
const usageReply = z.object({
  usage: z.object({ bytes: z.number(), maxBytes: z.number() }).exactOptional(),
  bytes: z.number().exactOptional(),
});

const notAnswering = { message: "no delivery process answers: the role delivery counts what an owner has stored" };
const service: Service = {
  queue: "stream-usage",
  timeoutMs: 5_000,
  noReply: { absent: notAnswering, late: notAnswering, unreachable: notAnswering },
};

interface Counted {
  readonly stream: string;
  readonly subject: (pool: string, owner: string) => string;
  readonly count: (connection: Connection, owner: string) => Promise<number>;
}

/** Streams of which owners have shares that runners keep. */
const counted = {
  /**
   * The subjects of histories cannot contain sizes, because each commit must follow the previous one on one subject. So a consumer reads the
   * headers, in which NATS reports the size.
   */
  state: { stream: streams.state, subject: stateUsageSubject, count: countStates },
  files: { stream: streams.files, subject: fileUsageSubject, count: countFiles },
} as const satisfies Readonly<Record<string, Counted>>;
export type CountedStream = keyof typeof counted;

/**
 * Counts, for runners, the bytes that an owner holds in a stream: runners have no right to do so. It takes time, and is unnecessary while every
 * owner has room.
 */
export const serveStreamUsage = (connection: Connection): readonly Promise<Stoppable>[] =>
  Object.values(counted).map((each) => serveUsage(connection, each));

function serveUsage(connection: Connection, { stream, subject, count }: Counted): Promise<Stoppable> {
  const counting = new Map<string, Promise<number>>();
  const countOnce = (owner: string): Promise<number> => {
    const bytes = counting.get(owner) ?? count(connection, owner).finally(() => counting.delete(owner));
    counting.set(owner, bytes);
    return bytes;
  };
  return serve(connection.nats, subject("*", "*"), service, async (body, asked): Promise<z.infer<typeof usageReply>> => {
    const usage = sharedUsage(await connection.manager.streams.info(stream));
    if (usage === undefined) return {};
    const isNearlyEmpty = usage.bytes + usageRequest.parse(body).moreBytes <= usage.maxBytes / 2;
    return isNearlyEmpty ? { usage } : { usage, bytes: await countOnce(asked.split(".").at(-1) ?? "") };
  });
}

/** @throws Unavailable */
export async function requestStreamUsage(
  connection: Connection,
  pool: string,
  stream: CountedStream,
  owner: string,
  moreBytes: number,
): Promise<OwnerUsage> {
  const { usage, bytes } = usageReply.parse(await request(connection.nats, counted[stream].subject(pool, owner), service, { moreBytes }));
  return { usage, bytes };
}

async function countStates(connection: Connection, owner: string): Promise<number> {
  let bytes = 0;
  const following = await followFrom({
    connection,
    stream: streams.state,
    from: 1,
    filter: `runs.*.${owner}.>`,
    headersOnly: true,
    namePrefix: "delivery",
    onMessage: ({ headers }) => {
      bytes += overheadBytes + (Number(headers?.get("Nats-Msg-Size")) || 0);
    },
  });
  await following.caughtUp;
  await following.stop();
  return bytes;
}

async function countFiles({ manager }: Connection, owner: string): Promise<number> {
  const { state } = await manager.streams.info(streams.files, { subjects_filter: filesOfOwner(owner) });
  return Object.keys(state.subjects ?? {}).reduce((sum, subject) => sum + chargeOf(partsOfFilePart(subject).bytes), 0);
}
