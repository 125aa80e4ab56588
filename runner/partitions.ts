import { partitionsOf } from "../domain/partition.ts";
import type { Intake, IntakeMessage, Log, Membership, RunnerConfig } from "./ports.ts";

/** How long after a partition could not be read it is tried again. */
const retryMs = 1_000;

/**
 * Which partitions this runner pulls: its share among the live runners, by rendezvous hashing. When runners come or go, shares
 * change one after the other; two runners may pull one partition for a moment, which the expected sequence of commits makes harmless.
 */
export class Partitions {
  readonly #config: RunnerConfig;
  readonly #ports: { readonly intake: Pick<Intake, "read">; readonly membership: Membership; readonly log: Log };
  readonly #onMessage: (message: IntakeMessage) => void;
  readonly #reading = new Map<number, Promise<{ stop(): Promise<void> }>>();
  #runners: readonly string[] = [];
  #retry: NodeJS.Timeout | undefined;
  #leave: (() => Promise<void>) | undefined;
  #stopped = false;

  constructor(
    config: RunnerConfig,
    ports: { intake: Pick<Intake, "read">; membership: Membership; log: Log },
    onMessage: (message: IntakeMessage) => void,
  ) {
    this.#config = config;
    this.#ports = ports;
    this.#onMessage = onMessage;
  }

  /** Resolves once this runner has announced itself and pulls its share. */
  async start(): Promise<void> {
    const { runner } = this.#config;
    const { leave } = await this.#ports.membership.join(runner, (runners) => this.#share(runners));
    this.#leave = leave;
    await Promise.all(this.#reading.values());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#leave?.();
    await Promise.all([...this.#reading.keys()].map((partition) => this.#drop(partition)));
  }

  #share(runners: readonly string[]): void {
    if (this.#stopped) return;
    this.#runners = runners;
    const { runner } = this.#config;
    const share = new Set(partitionsOf(runner, runners.includes(runner) ? runners : [...runners, runner]));
    for (const partition of this.#reading.keys()) if (!share.has(partition)) void this.#drop(partition); // Logs its own failure.
    for (const partition of share) if (!this.#reading.has(partition)) this.#read(partition);
  }

  #read(partition: number): void {
    const reading = this.#ports.intake.read(partition, this.#onMessage);
    this.#reading.set(partition, reading);
    reading.catch((error: unknown) => {
      this.#ports.log.error({ op: "partition.read", partition, err: error }, "cannot pull a partition: it is tried again");
      if (this.#reading.get(partition) !== reading) return;
      this.#reading.delete(partition);
      // Nobody else pulls it, and nobody might come or go for days.
      if (!this.#stopped) this.#retry ??= setTimeout(() => this.#readAgain(), retryMs);
    });
  }

  #readAgain(): void {
    this.#retry = undefined;
    this.#share(this.#runners);
  }

  async #drop(partition: number): Promise<void> {
    const reading = this.#reading.get(partition);
    this.#reading.delete(partition);
    try {
      await (await reading)?.stop();
    } catch (error) {
      this.#ports.log.warn({ op: "partition.drop", partition, err: error }, "cannot stop pulling a partition");
    }
  }
}
