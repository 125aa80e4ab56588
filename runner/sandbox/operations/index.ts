import type { AsyncOperation, PostOperation, SyncOperation } from "./context.ts";
import { cryptoAsync, cryptoSync, cryptoWaited } from "./crypto/index.ts";
import { dataStoreAsync } from "./data-store.ts";
import { dnsAsync } from "./network/dns.ts";
import { domainToAsciiSync } from "./network/domain-to-ascii.ts";
import { fetchAsync, fetchPosts } from "./fetch/fetch.ts";
import { filesAsync, filesWaited } from "./files.ts";
import { respondAsync } from "./respond.ts";
import { randomSync } from "./crypto/random.ts";
import { socketPosts } from "./network/socket.ts";
import { subtleAsync } from "./crypto/subtle.ts";
import { metered } from "./sync-meter.ts";
import { waitOperations } from "./waiting.ts";
import { zlibAsync, zlibPosts, zlibSync, zlibWaited } from "./zlib/stream.ts";

export type { AsyncOperation, OperationContext, PostOperation, SyncOperation } from "./context.ts";
export type { Network, NetworkUser, SharedNetwork } from "./network/network.ts";

/** What a guest's thread waits for, by name: `wait_begin` takes these. */
export const waitedOperations: Readonly<Record<string, AsyncOperation>> = merge<AsyncOperation>(cryptoWaited, filesWaited, zlibWaited);

/**
 * What the guest may ask for, by name. A new one needs an example in test/sandbox/operation-examples.ts, from which hostile calls are made,
 * and a bound on the cost of one call. Every argument comes from hostile code: arguments.ts checks it. Null prototypes: a name that user code
 * makes up finds nothing.
 */
export const syncOperations: Readonly<Record<string, SyncOperation>> = merge<SyncOperation>(
  mapped(merge<SyncOperation>(cryptoSync, domainToAsciiSync, randomSync, zlibSync), metered),
  // Not metered: the thread pool does the work, and an owner in debt still gets its result.
  waitOperations(waitedOperations),
);
export const asyncOperations: Readonly<Record<string, AsyncOperation>> = merge<AsyncOperation>(
  cryptoAsync,
  dataStoreAsync,
  dnsAsync,
  fetchAsync,
  filesAsync,
  respondAsync,
  subtleAsync,
  zlibAsync,
);
export const postOperations: Readonly<Record<string, PostOperation>> = merge<PostOperation>(fetchPosts, socketPosts, zlibPosts);

function mapped(
  table: Readonly<Record<string, SyncOperation>>,
  change: (operation: SyncOperation) => SyncOperation,
): Readonly<Record<string, SyncOperation>> {
  return merge(Object.fromEntries(Object.entries(table).map(([name, operation]) => [name, change(operation)])));
}

function merge<Operation>(...tables: Readonly<Record<string, Operation>>[]): Readonly<Record<string, Operation>> {
  return Object.freeze(Object.assign(Object.create(null), ...tables));
}
