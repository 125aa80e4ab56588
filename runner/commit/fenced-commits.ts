import { Unavailable } from "../../domain/errors.ts";
import { idOfHistory } from "../../domain/invocation/run-id.ts";
import type { CommitStore } from "./ports.ts";

interface Deployed {
  /** Whether a source or workflow has an entry. Not a promise if it is cached. */
  isDeployed(id: string): boolean | Promise<boolean>;
}

/**
 * Wraps a commit store: a run whose source or workflow was deleted in the meantime does not commit. The operator deletes the entry before the
 * histories. So a commit that is stored while the entry still exists is deleted with the histories, or the entry is gone right after it:
 *
 *     entry exists? ── no ──▶ refused
 *          │ yes
 *          ▼
 *     append ──▶ entry exists? ── no ──▶ ended with a marker, which replaces it in STATE and expires
 *
 * What a crash leaves is for the operator's sweep.
 *
 * @returns commits that throw Unavailable for a deleted source: the invocation is handled again, and finds no entry
 */
export function fenceDeleted(commits: CommitStore, deployed: Deployed): CommitStore {
  return {
    ...commits,
    append: async (...[owner, history, ...commit]) => {
      const id = idOfHistory(history);
      if (!(await deployed.isDeployed(id))) throw deleted(id);
      const appended = await commits.append(owner, history, ...commit);
      if (appended.outcome === "stored" && !(await deployed.isDeployed(id))) {
        await commits.endDeleted(owner, history);
        throw deleted(id);
      }
      return appended;
    },
  };
}

const deleted = (id: string): Unavailable => new Unavailable(`${id} was deleted while it ran: the run is not committed`);
