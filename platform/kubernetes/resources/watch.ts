import { z } from "zod";
import { Gone, HeadwaterError, InvalidInput, Unavailable } from "../../../domain/errors.ts";
import { backoffMs, pause } from "../../../domain/retry.ts";
import type { Kubernetes } from "../access/connection.ts";
import { errorFrom, retryAfterOf, unreachable } from "../errors.ts";
import { createLines } from "./lines.ts";
import { kubernetesObject, parseObjectList, type KubernetesObject } from "../object.ts";

/** All objects at a path, or those matching a selector. */
export interface WatchTarget {
  /** Path of the collection: `/api/v1/namespaces`. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export type ObjectEvent =
  | { readonly type: "added" | "modified" | "deleted"; readonly object: KubernetesObject }
  | { readonly type: "bookmark"; readonly resourceVersion: string };

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Called with each failure that the watch recovers from. Must not throw. */
  readonly onInterrupted?: (error: HeadwaterError) => void;
  /** The server ends a watch after this long to twice as long, and it is reopened. Default 300. */
  readonly lastsSeconds?: number;
}

const reopenDelay = { firstMs: 200, maxMs: 15_000 };

/**
 * Yields every change after a version, in order, until the signal aborts. Resumes after the last change when the server ends the watch (as
 * it does every few minutes), the connection breaks, or the server drops a slow reader.
 * @throws Gone when the server no longer has that version, or was reset to before it; InvalidInput for an invalid version
 */
export async function* watchObjects(
  kubernetes: Kubernetes,
  target: WatchTarget,
  version: string,
  { signal, onInterrupted, lastsSeconds = 300 }: WatchOptions,
): AsyncGenerator<ObjectEvent> {
  if (!/^\d{1,19}$/.test(version))
    throw new InvalidInput(`resourceVersion '${version}' is invalid: must be a version returned by Kubernetes, a decimal number`);
  let current = version;
  let failures = 0;
  while (!signal.aborted) {
    const openedAt = performance.now();
    try {
      if (failures > 0) await requireNotReset(kubernetes, target, current, signal);
      // Randomized, so that watches of all processes do not reconnect at the same time.
      const timeoutSeconds = Math.ceil(lastsSeconds * (1 + Math.random()));
      for await (const event of eventsOf(
        await openWatch(kubernetes, target, { resourceVersion: current, timeoutSeconds }, signal),
        target,
      )) {
        failures = 0;
        current = event.type === "bookmark" ? event.resourceVersion : event.object.metadata.resourceVersion;
        yield event;
        if (signal.aborted) return;
      }
      // The regular end. An immediate end counts as a failure.
      if (performance.now() - openedAt < 1_000) await pause(backoffMs(++failures, reopenDelay, Math.random()), signal);
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof HeadwaterError ? error : unreachable(error, `watch ${target.path}`);
      if (!(failure instanceof Unavailable)) throw failure;
      onInterrupted?.(failure);
      const delayMs = backoffMs(++failures, reopenDelay, Math.random());
      await pause(Math.max(delayMs, retryAfterOf(failure) ?? 0), signal);
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
  for await (const line of createLines(body)) if (line !== "") yield eventFrom(line, target);
}

const watchEvent = z.object({ type: z.enum(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]), object: z.unknown() });
const bookmark = z.object({ metadata: z.object({ resourceVersion: z.string() }) });
const errorStatus = z.object({ code: z.int() });
const types = { ADDED: "added", MODIFIED: "modified", DELETED: "deleted" } as const;

function eventFrom(line: string, target: WatchTarget): ObjectEvent {
  const { type, object } = watchEvent.parse(JSON.parse(line));
  if (type === "BOOKMARK") return { type: "bookmark", resourceVersion: bookmark.parse(object).metadata.resourceVersion };
  if (type !== "ERROR") return { type: types[type], object: kubernetesObject.parse(object) };
  const code = errorStatus.safeParse(object).data?.code ?? 500;
  throw errorFrom({ status: code, body: object, asked: `watch ${target.path}` });
}

/**
 * Detects an etcd restored from a backup: the server would silently wait for a version that is lost. Versions of one server are growing
 * numbers: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
async function requireNotReset(kubernetes: Kubernetes, { path }: WatchTarget, version: string, signal: AbortSignal): Promise<void> {
  // Over the watch connections: those of requests may be dead without anyone having noticed.
  const body = await kubernetes.stream({ method: "GET", path, query: { limit: 1 }, signal });
  const { metadata } = parseObjectList(JSON.parse(Buffer.concat(await collect(body)).toString("utf8")));
  if (BigInt(metadata.resourceVersion) < BigInt(version))
    throw new Gone(`resourceVersion ${version} is newer than Kubernetes' ${metadata.resourceVersion}: it was reset; list ${path} again`);
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return chunks;
}
