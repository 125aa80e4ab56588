import type { RunnerPoolResource } from "../../crds/runner-pool.ts";
import { decideScale, type ScaleDecision, type ScaleMemory } from "./scaling.ts";
import type { RunnerPoolPorts } from "./ports.ts";

/** Reads the load of a pool and decides its scale; keeps the state between decisions. */
export class Scaler {
  readonly #ports: Pick<RunnerPoolPorts, "backlogs" | "load" | "clock">;
  readonly #memories = new Map<string, ScaleMemory>();

  constructor(ports: Pick<RunnerPoolPorts, "backlogs" | "load" | "clock">) {
    this.#ports = ports;
  }

  /** `current`: replicas requested so far; undefined for a new pool. */
  async decide(pool: RunnerPoolResource, current: number | undefined): Promise<ScaleDecision & { readonly backlog: number | undefined }> {
    const { name } = pool.metadata;
    const backlog = await this.#ports.backlogs.of(name);
    const input = {
      current: current ?? pool.spec.minReplicas,
      backlog,
      ...this.#ports.load.of(name),
      now: this.#ports.clock.now(),
    };
    const decision = decideScale(pool.spec, input, this.#memories.get(name) ?? {});
    this.#memories.set(name, decision.memory);
    return { ...decision, backlog };
  }

  forget(pool: string): void {
    this.#memories.delete(pool);
  }
}
