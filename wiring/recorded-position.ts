import type { History } from "../delivery/ports.ts";

/** The history, and up to which commit it has all as far as this process knows: whoever asks for metrics must not wait for a Postgres that is away. */
export function followPosition(history: History): { readonly history: History; readonly recorded: () => number } {
  let recorded = 0;
  return {
    history: {
      ...history,
      position: async () => (recorded = await history.position()),
      recordCommits: async (commits) => {
        await history.recordCommits(commits);
        recorded = Math.max(recorded, commits.at(-1)?.seq ?? 0);
      },
    },
    recorded: () => recorded,
  };
}
