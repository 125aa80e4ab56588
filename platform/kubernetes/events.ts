import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Resource } from "../../crds/resource.ts";
import { NotFound } from "../../domain/errors.ts";
import { TokenBuckets } from "../../domain/limits/token-bucket.ts";
import type { Kubernetes } from "./access/connection.ts";
import { microTime } from "./leases.ts";
import { pathOf } from "./paths.ts";

export interface KubernetesEventsOptions {
  /** Reporting instance: name of the pod. */
  readonly instance: string;
  /** Epoch ms. */
  readonly now?: () => number;
  readonly onError: (error: unknown) => void;
}

export interface EventInput {
  readonly type: "Normal" | "Warning";
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

/** Repeats within this time are counted on the same Event. */
const seriesMs = 10 * 60_000;
/** Per resource: a burst, then one every five minutes, like client-go's spam filter. */
const budget = { burst: 25, perSecond: 1 / 300 };
/** Bounds the queue. New Events are dropped when it is full. */
const maxQueued = 500;
const maxRemembered = 4_096;
/** How often the count of an Event is written at most. */
const countIntervalMs = 30_000;
const maxNoteBytes = 1_024;
const reporter = "headwater.dev/operator";

interface Series {
  readonly path: string;
  readonly collection: string;
  readonly body: object;
  count: number;
  lastAt: number;
  /** When it was last written, and the count written then. */
  writtenAt: number;
  writtenCount: number;
  queued: boolean;
}

/**
 * Records Kubernetes Events (events.k8s.io/v1). Repeats are counted, resources are rate-limited, and callers never wait or fail. Events
 * that cannot be written are lost: they are for people and carry no state.
 */
export class KubernetesEvents {
  readonly #kubernetes: Kubernetes;
  readonly #options: Required<KubernetesEventsOptions>;
  readonly #series = new Map<string, Series>();
  readonly #budgets = new TokenBuckets(budget, maxRemembered);
  readonly #queue: Series[] = [];
  readonly #stop = new AbortController();
  #writing: Promise<void> | undefined;

  constructor(kubernetes: Kubernetes, options: KubernetesEventsOptions) {
    this.#kubernetes = kubernetes;
    this.#options = { now: Date.now, ...options };
  }

  /** Never throws, never waits. */
  record(resource: Resource, event: EventInput): void {
    const now = this.#options.now();
    const { uid } = resource.metadata;
    const key = [uid, event.type, event.reason, event.message].join("\n");
    const known = this.#series.get(key);
    if (known !== undefined && now - known.lastAt < seriesMs) {
      known.count++;
      known.lastAt = now;
      if (now - known.writtenAt >= countIntervalMs) this.#enqueue(known);
      return;
    }
    if (!this.#budgets.of(uid).take(now)) return;
    const series = this.#begin(resource, event, now);
    this.#series.delete(key);
    this.#series.set(key, series);
    evictOldest(this.#series);
    this.#enqueue(series);
  }

  /** Writes queued Events until the signal aborts. */
  async stop(signal: AbortSignal = AbortSignal.timeout(1_000)): Promise<void> {
    for (const series of this.#series.values()) if (series.count > series.writtenCount) this.#enqueue(series);
    const late = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([this.#writing, late]);
    this.#stop.abort();
    await this.#writing;
  }

  #begin(resource: Resource, { type, reason, message }: EventInput, now: number): Series {
    const { apiVersion, kind, metadata } = resource;
    // Like Kubernetes itself, writes Events of cluster-scoped resources to `default`.
    const namespace = metadata.namespace === "" ? "default" : metadata.namespace;
    const name = `${metadata.name.slice(0, 200).replace(/[^a-z0-9]+$/, "")}.${hash("sha256", `${metadata.uid}${reason}${message}${now}`).slice(0, 16)}`;
    const collection = pathOf(["apis", "events.k8s.io", "v1", "namespaces", namespace, "events"]);
    const { instance } = this.#options;
    const body = {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name, namespace },
      eventTime: microTime(now),
      reportingController: reporter,
      reportingInstance: instance.slice(0, 128),
      action: "Reconcile",
      type,
      reason: reason.slice(0, 128),
      note: replaced(message),
      regarding: {
        apiVersion,
        kind,
        name: metadata.name,
        namespace: metadata.namespace,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      },
    };
    return {
      collection,
      path: `${collection}${pathOf([name])}`,
      body,
      count: 1,
      lastAt: now,
      writtenAt: now,
      writtenCount: 0,
      queued: false,
    };
  }

  #enqueue(series: Series): void {
    if (series.queued || this.#stop.signal.aborted || this.#queue.length >= maxQueued) return;
    series.queued = true;
    this.#queue.push(series);
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  /** Sequential, so that Events do not slow down the work they report. */
  async #write(): Promise<void> {
    await sleep(0); // Return to the caller first.
    for (let series = this.#queue.shift(); series !== undefined && !this.#stop.signal.aborted; series = this.#queue.shift()) {
      series.queued = false;
      try {
        await this.#put(series);
      } catch (error) {
        if (!this.#stop.signal.aborted) this.#options.onError(error);
      }
    }
  }

  async #put(series: Series): Promise<void> {
    const { count, lastAt, path, collection, body } = series;
    const first = series.writtenCount === 0;
    series.writtenAt = this.#options.now();
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(10_000)]);
    const counted = count > 1 ? { series: { count, lastObservedTime: microTime(lastAt) } } : {};
    if (first) await this.#kubernetes.request({ method: "POST", path: collection, body: { ...body, ...counted }, signal });
    else {
      const contentType = "application/merge-patch+json";
      try {
        await this.#kubernetes.request({ method: "PATCH", path, body: counted, contentType, signal });
      } catch (error) {
        if (!(error instanceof NotFound)) throw error; // The server deletes Events after about an hour.
        await this.#kubernetes.request({ method: "POST", path: collection, body: { ...body, ...counted }, signal });
      }
    }
    series.writtenCount = count;
  }
}

function evictOldest(map: Map<string, Series>): void {
  for (const key of map.keys()) {
    if (map.size <= maxRemembered) return;
    map.delete(key);
  }
}

/** Masks passwords in URLs that users wrote, because Events are widely readable. Messages of Headwater contain no secrets. */
function replaced(message: string): string {
  const replaced = message.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, "$1…@");
  if (Buffer.byteLength(replaced) <= maxNoteBytes) return replaced;
  let text = replaced.slice(0, maxNoteBytes - 3);
  while (Buffer.byteLength(text) > maxNoteBytes - 3) text = text.slice(0, -1);
  return `${text.replace(/[\ud800-\udbff]$/, "")}…`;
}
