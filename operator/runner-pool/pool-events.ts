import type { RunnerPoolResource } from "../../crds/runner-pool.ts";
import type { LivePod } from "./objects/live.ts";
import type { RunnerPoolPorts } from "./ports.ts";
import { oomKills } from "./problems.ts";
import type { ScaleDecision } from "./scaling.ts";

export interface PoolObservation {
  /** Replicas requested so far; undefined for a new pool. */
  readonly before: number | undefined;
  readonly replicas: number;
  readonly why: ScaleDecision["why"];
  readonly backlog: number | undefined;
  readonly pods: readonly LivePod[];
}

const maxRememberedKills = 1_000;

/** Records the history of a pool as Kubernetes Events. */
export class PoolEventRecorder {
  readonly #ports: Pick<RunnerPoolPorts, "events" | "log">;
  readonly #recordedKills = new Set<string>();

  constructor(ports: Pick<RunnerPoolPorts, "events" | "log">) {
    this.#ports = ports;
  }

  record(pool: RunnerPoolResource, observation: PoolObservation): void {
    this.#recordScaling(pool, observation);
    for (const { pod, key } of oomKills(observation.pods)) {
      if (this.#recordedKills.has(key)) continue;
      if (this.#recordedKills.size >= maxRememberedKills) this.#recordedKills.clear();
      this.#recordedKills.add(key);
      const message = `pod ${pod} was killed because it ran out of memory; its runs are retried`;
      this.#ports.events.record(pool, { type: "Warning", reason: "RunnerOutOfMemory", message });
    }
  }

  #recordScaling(pool: RunnerPoolResource, { before, replicas, why, backlog }: PoolObservation): void {
    if (before === undefined || before === replicas) return;
    const reason = before === 0 ? "Woken" : replicas === 0 ? "FellAsleep" : replicas > before ? "ScaledUp" : "ScaledDown";
    const message = `from ${before} to ${replicas} runners: ${explain(why, backlog)}`;
    this.#ports.events.record(pool, { type: "Normal", reason, message });
    this.#ports.log.info({ op: "pool.scale", pool: pool.metadata.name, from: before, to: replicas, why, backlog }, reason);
  }
}

function explain(why: ScaleDecision["why"], backlog: number | undefined): string {
  switch (why) {
    case "pinned":
      return "set by spec.replicas";
    case "memory":
      return "they use most of their memory";
    case "cpu":
      return "they use most of their CPUs";
    case "bounds":
    case "backlog":
    case "unknown":
      return `${backlog ?? "an unknown number of"} invocations wait${why === "bounds" ? "; limited by minReplicas or maxReplicas" : ""}`;
  }
}
