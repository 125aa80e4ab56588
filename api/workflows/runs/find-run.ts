import { NotFound } from "../../../domain/errors.ts";
import { isId } from "../../../domain/ids.ts";
import { waitUntil } from "../../../domain/retry.ts";
import type { WorkflowRunDetails } from "../../../domain/workflow/recorded-run.ts";
import type { ApiContext } from "../../context.ts";
import type { Call } from "../../http/request/call.ts";
import { pathOf } from "../../http/routing/handle.ts";
import { whyNotFound } from "../../resources/not-found.ts";

const pollMs = 40;

/** The run in the path. @throws NotFound */
export async function runOf(call: Call, workflow: string, { ports }: ApiContext): Promise<WorkflowRunDetails> {
  const id = pathOf(call, "run_id");
  const found = isId("run", id) ? await ports.history.findWorkflowRun(workflow, id) : undefined;
  if (found !== undefined) return found;
  const why = isId("run", id)
    ? `workflow ${workflow} has no run ${id}: its first step has not ended yet, or it was deleted`
    : whyNotFound("run", id);
  throw new NotFound(`record not found: ${why}`);
}

/** The run once the history has it as wanted, so that the caller's next request finds it so; undefined: it takes longer. */
export async function untilRecorded(
  workflow: string,
  run: string,
  isWanted: (run: WorkflowRunDetails) => boolean,
  { config, ports }: ApiContext,
): Promise<WorkflowRunDetails | undefined> {
  let found: WorkflowRunDetails | undefined;
  const isFound = await waitUntil(
    async () => {
      // Ignore errors: the history may be readable a moment later.
      found = await ports.history.findWorkflowRun(workflow, run).catch(() => undefined);
      return found !== undefined && isWanted(found);
    },
    config.recordTimeoutMs,
    pollMs,
  );
  return isFound ? found : undefined;
}
