import { z } from "zod";
import { parseJsonOrNull } from "../../domain/json.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import type { SourceState } from "../../domain/run/commit.ts";
import { runSubject } from "../../domain/subjects.ts";
import type { RunMessages } from "../streams/ports.ts";

/** A recorded run of a source. */
export interface SoughtRun {
  readonly source: string;
  readonly owner: string;
  readonly id: string;
  /** Epoch ms. */
  readonly startedAt: number;
}

type Db = SourceState["db"];

/**
 * The `db` from which a run started: the state in the commit before that of the run. Undefined if RUNS has trimmed what says so.
 *
 * RUNS can only be read forwards, so this is a binary search for the commit: those of a source have growing times.
 */
export async function dbBefore(run: SoughtRun, runs: RunMessages): Promise<Db | undefined> {
  try {
    return await search(run, runs);
  } catch (error) {
    // Of a runner that hostile code has taken over: its owner alone gets nothing.
    if (error instanceof z.ZodError) return undefined;
    throw error;
  }
}

async function search(run: SoughtRun, runs: RunMessages): Promise<Db | undefined> {
  const subject = runSubject(partitionOf(run.source), run.owner, run.source);
  const next = async (sequence: number): Promise<Found | undefined> => {
    const message = await runs.findNext(subject, sequence);
    return message && { sequence: message.sequence, commit: readCommit.parse(parseJsonOrNull(message.text())) };
  };
  const { first, last } = await runs.kept();
  let [low, high] = [first, last + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await next(middle);
    if (found === undefined || found.commit.run.startedAt >= run.startedAt) high = middle;
    else low = found.sequence + 1;
  }
  const own = await next(low);
  if (own?.commit.run.id !== run.id) return undefined;
  const previous = low > first ? await next(low - 1) : undefined;
  if (previous !== undefined && previous.sequence === low - 1) return previous.commit.state.db;
  return withoutAdditions(own.commit);
}

/** What is read of a commit. Runners execute user code, so nothing else is relied on. */
const readCommit = z.looseObject({
  run: z.looseObject({
    id: z.string(),
    startedAt: z.number(),
    dbChanges: z.array(z.looseObject({ prop: z.string(), key: z.string(), change: z.string() })).optional(),
  }),
  state: z.looseObject({ db: z.record(z.string(), z.record(z.string(), z.string())) }),
});
type ReadCommit = z.infer<typeof readCommit>;

interface Found {
  readonly sequence: number;
  readonly commit: ReadCommit;
}

/** A commit names at most ten changes. */
const maxNamedChanges = 10;

/** The state before a commit that only added keys to it. Of a changed or deleted key, the value before is not known. */
function withoutAdditions({ run, state }: ReadCommit): Db | undefined {
  const changes = run.dbChanges ?? [];
  if (changes.length >= maxNamedChanges || changes.some(({ change }) => change !== "added")) return undefined;
  // A long name is shortened, and a secret in it is masked: such a key cannot be found.
  if (changes.some(({ prop, key }) => state.db[prop]?.[key] === undefined)) return undefined;
  const isAdded = (prop: string, key: string): boolean => changes.some((change) => change.prop === prop && change.key === key);
  const props = Object.entries(state.db).map(
    ([prop, keys]) => [prop, Object.fromEntries(Object.entries(keys).filter(([key]) => !isAdded(prop, key)))] as const,
  );
  return Object.fromEntries(props);
}
