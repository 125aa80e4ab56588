import type { Log } from "../../domain/log.ts";
import { partitionOfRun } from "../../domain/subjects.ts";
import { KeyedChains } from "./keyed-chains.ts";
import type { OrderedDeliveries, RoutedReading, Runs } from "./ports.ts";
import { parseCommit, routeCommit, type RouterParts } from "./router.ts";

export interface CommitReadingParts {
  readonly router: RouterParts;
  /** The ordered queues of the partitions that this replica holds. */
  readonly ordered: { at(partition: number): OrderedDeliveries | undefined };
  readonly ports: { readonly runs: Pick<Runs, "route">; readonly log: Pick<Log, "warn" | "error"> };
  readonly signal: AbortSignal;
}

/** Routes the commits of the partitions that are opened. Each is done once its deliveries are settled or stored. */
export function readCommits({ router, ordered, ports: { runs, log }, signal }: CommitReadingParts): RoutedReading {
  const chains = new KeyedChains();
  return runs.route((text, done, subject, position) => {
    const commit = parseCommit(text, subject, log);
    if (commit === undefined) return done();
    // A commit that is not done is read again after the restart.
    const report = (error: unknown): void => {
      if (!signal.aborted) log.error({ op: "delivery.route", "source.id": commit.source, err: error }, "a commit is not routed");
    };
    const origin = { commit: { position, queues: ordered.at(partitionOfRun(subject)) } };
    routeCommit(commit, origin, chains, router).then(done, report);
  });
}
