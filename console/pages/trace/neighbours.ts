import type { Span } from "../../../client/generated/operations.ts";
import { useRead } from "../../api/queries.ts";

export interface Neighbours {
  /** Id of the run that is next in the list of runs. */
  readonly older: string | undefined;
  readonly newer: string | undefined;
}

const maxRuns = 100;

/** The runs of the same source or workflow beside a run, among the last hundred. */
export function useNeighbours(run: Span | undefined): Neighbours {
  const [source, workflow] = [run?.source_id, run?.workflow_id];
  const query = { limit: maxRuns };
  const ofSource = useRead("listRuns", { path: { id: source ?? "" }, query }, { enabled: source !== undefined });
  const ofWorkflow = useRead("listWorkflowRuns", { path: { workflow_id: workflow ?? "" }, query }, { enabled: workflow !== undefined });
  const list: readonly { readonly id: string }[] = (source === undefined ? ofWorkflow.data?.data : ofSource.data?.data) ?? [];
  const at = list.findIndex(({ id }) => id === run?.run_id);
  // Newest first.
  return at < 0 ? { older: undefined, newer: undefined } : { older: list[at + 1]?.id, newer: list[at - 1]?.id };
}
