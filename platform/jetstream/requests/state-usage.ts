import { z } from "zod";
import { stateUsageSubject, streams } from "../../../domain/subjects.ts";
import type { StateUsage } from "../../../runner/commit/ports.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { followFrom } from "../read/follow.ts";
import { request, serve, type Service } from "./request-reply.ts";

/** Of the stream's limit. The rest is for the small shares that owners have in a full stream. */
const intendedShare = 3 / 4;
/** Approximate size of a stored message besides its body: subject, headers, and what NATS adds. */
const overheadBytes = 256;

const usageRequest = z.object({ moreBytes: z.number() });
const usageReply = z.object({
  usage: z.object({ bytes: z.number(), maxBytes: z.number() }).exactOptional(),
  bytes: z.number().exactOptional(),
});

const notAnswering = { message: "no delivery process answers: the role delivery counts the states of an owner" };
const service: Service = {
  queue: "state-usage",
  timeoutMs: 5_000,
  noReply: { absent: notAnswering, late: notAnswering, unreachable: notAnswering },
};

/**
 * Counts, for runners, the bytes of an owner's last commits: runners have no right to create the consumer that this needs.
 *
 * The subjects of histories cannot contain sizes, because each commit must follow the previous one on one subject. So a consumer reads the
 * headers, in which NATS reports the size. That takes time, and is unnecessary while every owner has room.
 */
export function serveStateUsage(connection: Connection): Promise<Stoppable> {
  const counting = new Map<string, Promise<number>>();
  const countOnce = (owner: string): Promise<number> => {
    const count = counting.get(owner) ?? countBytes(connection, owner).finally(() => counting.delete(owner));
    counting.set(owner, count);
    return count;
  };
  return serve(connection.nats, stateUsageSubject("*", "*"), service, async (body, subject): Promise<z.infer<typeof usageReply>> => {
    const { config, state } = await connection.manager.streams.info(streams.state);
    if (config.max_bytes <= 0) return {};
    const usage = { bytes: state.bytes, maxBytes: config.max_bytes * intendedShare };
    const isNearlyEmpty = usage.bytes + usageRequest.parse(body).moreBytes <= usage.maxBytes / 2;
    return isNearlyEmpty ? { usage } : { usage, bytes: await countOnce(subject.split(".").at(-1) ?? "") };
  });
}

/** @throws Unavailable */
export async function requestStateUsage(connection: Connection, pool: string, owner: string, moreBytes: number): Promise<StateUsage> {
  const { usage, bytes } = usageReply.parse(await request(connection.nats, stateUsageSubject(pool, owner), service, { moreBytes }));
  return { usage, bytes };
}

async function countBytes(connection: Connection, owner: string): Promise<number> {
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
