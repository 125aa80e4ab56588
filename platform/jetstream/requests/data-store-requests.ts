import { z } from "zod";
import type { DataStores, StoreRequest, StoreResult } from "../../../domain/data-store/data-stores.ts";
import { storeOperation, storeResult } from "../../../domain/data-store/schemas.ts";
import { InvalidInput } from "../../../domain/errors.ts";
import { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";
import { dataStoreSubject } from "../../../domain/subjects.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";
import { request, serve, type Service } from "./request-reply.ts";

const storeRequest = z.object({ store: z.string().max(253), operation: storeOperation, operationId: z.string().max(256).exactOptional() });

/** Requests that one process performs at once: each uses a connection to Postgres, and the history needs some too. */
const permits = 6;
const permitsPerOwner = 3;

const notAnswering = { message: "no delivery process answers: the role delivery performs what runs ask of data stores" };
const service: Service = {
  queue: "data-stores",
  timeoutMs: 10_000,
  finishesOnStop: true,
  noReply: { absent: notAnswering, late: notAnswering, unreachable: notAnswering },
};

/**
 * Performs operations on data stores for runners, which have no Postgres. The owner is in the subject, so that NATS itself keeps the runners
 * of a pool that belongs to an owner from the stores of others.
 */
export function serveDataStores(connection: Connection, stores: DataStores, now: () => number): Promise<Stoppable> {
  const slots = new FairSemaphore({ permits, permitsPerKey: permitsPerOwner, alone: { permits, now } });
  return serve(connection.nats, dataStoreSubject("*", "*"), service, async (body, subject): Promise<StoreResult> => {
    const parsed = storeRequest.safeParse(body);
    if (!parsed.success) throw new InvalidInput("a request to a data store is invalid");
    const owner = subject.split(".").at(-1) ?? "";
    return slots.use(owner, () => stores.perform({ owner, ...parsed.data }));
  });
}

/** @throws as `DataStores.perform` does */
export async function requestDataStore(connection: Connection, pool: string, { owner, ...body }: StoreRequest): Promise<StoreResult> {
  return storeResult.parse(await request(connection.nats, dataStoreSubject(pool, owner), service, body));
}
