import type { LivePod } from "./live.ts";
import type { RunnerPoolResource } from "./names.ts";
import type { RunnerPoolPorts } from "./ports.ts";
import { outOfMemoryEndings } from "./problems.ts";
import type { ScaleDecision } from "./scaling.ts";

export interface Seen {
  /** Replicas asked for until now; undefined: the pool is new. */
  readonly before: number | undefined;
  readonly replicas: number;
  readonly why: ScaleDecision["why"];
  readonly backlog: number | undefined;
  readonly pods: readonly LivePod[];
}

const mostRemembered = 1_000;

/** What a person who looks at a pool wants to know of its past, as Events. */
export class PoolTeller {
  readonly #ports: Pick<RunnerPoolPorts, "events" | "log">;
  readonly #told = new Set<string>();

  constructor(ports: Pick<RunnerPoolPorts, "events" | "log">) {
    this.#ports = ports;
  }

  tell(pool: RunnerPoolResource, seen: Seen): void {
    this.#tellScale(pool, seen);
    for (const { pod, key } of outOfMemoryEndings(seen.pods)) {
      if (this.#told.has(key)) continue;
      if (this.#told.size >= mostRemembered) this.#told.clear();
      this.#told.add(key);
      const message = `pod ${pod} was ended because it used all of its memory; what it ran is run again`;
      this.#ports.events.tell(pool, { type: "Warning", reason: "RunnerOutOfMemory", message });
    }
  }

  #tellScale(pool: RunnerPoolResource, { before, replicas, why, backlog }: Seen): void {
    if (before === undefined || before === replicas) return;
    const reason = before === 0 ? "Woken" : replicas === 0 ? "FellAsleep" : replicas > before ? "ScaledUp" : "ScaledDown";
    const message = `from ${before} to ${replicas} runners: ${because(why, backlog)}`;
    this.#ports.events.tell(pool, { type: "Normal", reason, message });
    this.#ports.log.info({ op: "pool.scale", pool: pool.metadata.name, from: before, to: replicas, why, backlog }, reason);
  }
}

function because(why: ScaleDecision["why"], backlog: number | undefined): string {
  switch (why) {
    case "pinned":
      return "spec.replicas says so";
    case "memory":
      return "they use most of their memory";
    case "bounds":
    case "backlog":
    case "unknown":
      return `${backlog ?? "an unknown number of"} invocations wait${why === "bounds" ? "; minReplicas or maxReplicas decides" : ""}`;
  }
}
