import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { Gone, HeadwaterError, InvalidInput, Unavailable } from "../../domain/errors.ts";
import type { Kubernetes } from "./connection.ts";
import { errorFrom, retryAfterOf, unreachable } from "./errors.ts";
import { linesOf } from "./lines.ts";
import { kubernetesObject, parseObjectList, type KubernetesObject } from "./object.ts";

/** What is watched: all objects at a path, or those that a selector names. */
export interface WatchTarget {
  /** Of the collection: `/api/v1/namespaces`. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export type ObjectEvent =
  | { readonly type: "added" | "modified" | "deleted"; readonly object: KubernetesObject }
  | { readonly type: "bookmark"; readonly resourceVersion: string };

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Told of each failure that the watch goes on after. Must not throw. */
  readonly onInterrupted?: (error: HeadwaterError) => void;
  /** The server ends a watch after this long to twice as long, and we open it again; default 300. */
  readonly lastsSeconds?: number;
}

const longestPauseMs = 15_000;

/**
 * Every change after a version, in order, until the signal aborts; the watch goes on by itself from the last change it told when
 * the server ends it (as it does every few minutes), the connection breaks, or the server cuts off a reader too slow for it.
 * @throws Gone when the server knows that version no more, or has gone back to before it; InvalidInput for a version of no server
 */
export async function* watchObjects(
  kubernetes: Kubernetes,
  target: WatchTarget,
  version: string,
  { signal, onInterrupted, lastsSeconds = 300 }: WatchOptions,
): AsyncGenerator<ObjectEvent> {
  if (!/^\d{1,19}$/.test(version))
    throw new InvalidInput(`resourceVersion '${version}' is invalid: must be one that Kubernetes gave out, a decimal number`);
  let at = version;
  let failures = 0;
  while (!signal.aborted) {
    const openedAt = performance.now();
    try {
      if (failures > 0) await requireSamePast(kubernetes, target, at, signal);
      // Spread, so that all watches of all processes do not come again in the same moment.
      const timeoutSeconds = Math.ceil(lastsSeconds * (1 + Math.random()));
      for await (const event of eventsOf(await openWatch(kubernetes, target, { resourceVersion: at, timeoutSeconds }, signal), target)) {
        failures = 0;
        at = event.type === "bookmark" ? event.resourceVersion : event.object.metadata.resourceVersion;
        yield event;
        if (signal.aborted) return;
      }
      // The usual end. One that comes at once is a failure that calls itself otherwise.
      if (performance.now() - openedAt < 1_000) await pause(failures++, signal);
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof HeadwaterError ? error : unreachable(error, `watch ${target.path}`);
      if (!(failure instanceof Unavailable)) throw failure;
      onInterrupted?.(failure);
      await pause(failures++, signal, retryAfterOf(failure));
    }
  }
}

function openWatch(
  kubernetes: Kubernetes,
  { path, labelSelector, fieldSelector }: WatchTarget,
  from: { readonly resourceVersion: string; readonly timeoutSeconds: number },
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const query = { watch: true, allowWatchBookmarks: true, labelSelector, fieldSelector, ...from };
  return kubernetes.stream({ method: "GET", path, query, signal });
}

async function* eventsOf(body: AsyncIterable<Uint8Array>, target: WatchTarget): AsyncGenerator<ObjectEvent> {
  for await (const line of linesOf(body)) if (line !== "") yield eventFrom(line, target);
}

const told = z.object({ type: z.enum(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]), object: z.unknown() });
const marked = z.object({ metadata: z.object({ resourceVersion: z.string() }) });
const refused = z.object({ code: z.int() });
const types = { ADDED: "added", MODIFIED: "modified", DELETED: "deleted" } as const;

function eventFrom(line: string, target: WatchTarget): ObjectEvent {
  const { type, object } = told.parse(JSON.parse(line));
  if (type === "BOOKMARK") return { type: "bookmark", resourceVersion: marked.parse(object).metadata.resourceVersion };
  if (type !== "ERROR") return { type: types[type], object: kubernetesObject.parse(object) };
  const code = refused.safeParse(object).data?.code ?? 500;
  throw errorFrom({ status: code, body: object, asked: `watch ${target.path}` });
}

/**
 * After etcd was restored from a backup the server would wait in silence for a version from the future that is lost. Versions of
 * one server are numbers that grow: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
async function requireSamePast(kubernetes: Kubernetes, { path }: WatchTarget, version: string, signal: AbortSignal): Promise<void> {
  // Over the watches' connections: those of requests may be the dead ones that nobody has noticed yet.
  const body = await kubernetes.stream({ method: "GET", path, query: { limit: 1 }, signal });
  const { metadata } = parseObjectList(JSON.parse(Buffer.concat(await collect(body)).toString("utf8")));
  if (BigInt(metadata.resourceVersion) < BigInt(version))
    throw new Gone(`resourceVersion ${version} is newer than Kubernetes' ${metadata.resourceVersion}: it was set back; list ${path} again`);
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return chunks;
}

async function pause(failures: number, signal: AbortSignal, leastMs = 0): Promise<void> {
  const ms = Math.min(longestPauseMs, 200 * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);
  await delay(Math.max(ms, leastMs), undefined, { signal }).catch(() => undefined);
}
