import { partitionOf } from "../../domain/invocation/partition.ts";

interface Release {
  /** Undefined: all partitions. */
  readonly partition: number | undefined;
  readonly resolve: () => void;
}

/** Partitions that this runner hands over. Each release resolves when no source of its partition has a queue here. */
export class PartitionReleases {
  #waiting: Release[] = [];

  /** @param queues keys of the queues that there are */
  add(partition: number | undefined, queues: ReadonlyMap<string, unknown>): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ partition, resolve });
      this.resolve(queues);
    });
  }

  /** Whether another runner waits for the source's partition. */
  includes(source: string): boolean {
    return this.#waiting.some(({ partition }) => partition === undefined || partition === partitionOf(source));
  }

  /** Call this when a queue was deleted. */
  resolve(queues: ReadonlyMap<string, unknown>): void {
    this.#waiting = this.#waiting.filter(({ partition, resolve }) => {
      const isEmpty = partition === undefined ? queues.size === 0 : !queues.keys().some((source) => partitionOf(source) === partition);
      if (isEmpty) resolve();
      return !isEmpty;
    });
  }
}
