import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Resource } from "../../crds/resource.ts";
import { NotFound } from "../../domain/errors.ts";
import { TokenBucket } from "../../domain/token-bucket.ts";
import type { Kubernetes } from "./connection.ts";
import { microTime } from "./leases.ts";
import { pathOf } from "./paths.ts";

export interface KubernetesEventsOptions {
  /** Who tells: name of the pod. */
  readonly instance: string;
  /** Epoch ms. */
  readonly now?: () => number;
  readonly onError: (error: unknown) => void;
}

export interface EventToTell {
  readonly type: "Normal" | "Warning";
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

/** The same told again within this time is counted on the same Event. */
const seriesMs = 10 * 60_000;
/** Of one resource: so many at once, then one in five minutes. As client-go's spam filter. */
const budget = { burst: 25, perSecond: 1 / 300 };
/** Waiting to be written; of more, the new ones are dropped. */
const mostWaiting = 500;
const mostRemembered = 4_096;
/** Counts are written at most this often per Event. */
const countEveryMs = 30_000;
const noteBytes = 1_024;
const reporter = "headwater.dev/operator";

interface Series {
  readonly path: string;
  readonly collection: string;
  readonly body: object;
  count: number;
  lastAt: number;
  /** When it was last written, and the count that was written. */
  writtenAt: number;
  writtenCount: number;
  queued: boolean;
}

/**
 * Tells Kubernetes Events (events.k8s.io/v1): the same told again is a count, one resource cannot flood, and nobody waits for it
 * or fails by it. What cannot be written is lost: Events are for people, and no state.
 */
export class KubernetesEvents {
  readonly #kubernetes: Kubernetes;
  readonly #options: Required<KubernetesEventsOptions>;
  readonly #series = new Map<string, Series>();
  readonly #budgets = new Map<string, TokenBucket>();
  readonly #waiting: Series[] = [];
  readonly #stop = new AbortController();
  #writing: Promise<void> | undefined;

  constructor(kubernetes: Kubernetes, options: KubernetesEventsOptions) {
    this.#kubernetes = kubernetes;
    this.#options = { now: Date.now, ...options };
  }

  /** Never throws, never waits. */
  record(resource: Resource, event: EventToTell): void {
    const now = this.#options.now();
    const { uid } = resource.metadata;
    const key = [uid, event.type, event.reason, event.message].join("\n");
    const known = this.#series.get(key);
    if (known !== undefined && now - known.lastAt < seriesMs) {
      known.count++;
      known.lastAt = now;
      if (now - known.writtenAt >= countEveryMs) this.#enqueue(known);
      return;
    }
    if (!this.#mayTell(uid, now)) return;
    const series = this.#begin(resource, event, now);
    this.#series.delete(key);
    this.#series.set(key, series);
    forgetOldest(this.#series);
    this.#enqueue(series);
  }

  /** Writes what waits, for as long as the signal allows. */
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

  #mayTell(uid: string, now: number): boolean {
    const bucket = this.#budgets.get(uid) ?? new TokenBucket(budget);
    this.#budgets.delete(uid);
    this.#budgets.set(uid, bucket);
    forgetOldest(this.#budgets);
    return bucket.take(now);
  }

  #begin(resource: Resource, { type, reason, message }: EventToTell, now: number): Series {
    const { apiVersion, kind, metadata } = resource;
    // Events of resources without a namespace are told in `default`, as Kubernetes itself does.
    const namespace = metadata.namespace === "" ? "default" : metadata.namespace;
    const name = `${metadata.name.slice(0, 200).replace(/[^a-z0-9]+$/, "")}.${createHash("sha256").update(`${metadata.uid}${reason}${message}${now}`).digest("hex").slice(0, 16)}`;
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
      note: shown(message),
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
    if (series.queued || this.#stop.signal.aborted || this.#waiting.length >= mostWaiting) return;
    series.queued = true;
    this.#waiting.push(series);
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  /** One after the other: Events must not get in the way of what they tell of. */
  async #write(): Promise<void> {
    await sleep(0); // Whoever tells is not kept by it.
    for (let series = this.#waiting.shift(); series !== undefined && !this.#stop.signal.aborted; series = this.#waiting.shift()) {
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
        if (!(error instanceof NotFound)) throw error; // The server keeps Events for an hour or so.
        await this.#kubernetes.request({ method: "POST", path: collection, body: { ...body, ...counted }, signal });
      }
    }
    series.writtenCount = count;
  }
}

function forgetOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    if (map.size <= mostRemembered) return;
    map.delete(key);
  }
}

/** Messages are ours and hold no secrets; an address that a person wrote may hold a password, and anybody may read Events. */
function shown(message: string): string {
  const masked = message.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, "$1…@");
  if (Buffer.byteLength(masked) <= noteBytes) return masked;
  let text = masked.slice(0, noteBytes - 3);
  while (Buffer.byteLength(text) > noteBytes - 3) text = text.slice(0, -1);
  return `${text.replace(/[\ud800-\udbff]$/, "")}…`;
}
