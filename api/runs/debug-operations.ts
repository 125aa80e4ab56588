import { z } from "zod";
import { NotFound, QuotaUsedUp } from "../../domain/errors.ts";
import { operation } from "../context.ts";
import { flag } from "../http/request/parameters.ts";
import { ok } from "../http/response/replies.ts";
import { one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { publicIdOf } from "../resources/identity.ts";
import { sourceOf } from "../sources/find-source.ts";
import { runInputs } from "./run-inputs.ts";
import { runInputsSchema } from "./schemas.ts";

/** Requests of one user that may wait. */
const maxWaiting = 2;

const fields = z.object({
  current_version: flag.nullish().describe("True: with the code and props of now, if the version that ran is no longer deployed."),
});

/** It is a POST, and in the audit log, because keys that only read must not get the values of `db`. */
export const debugOperations = [
  operation({
    route: "POST /sources/:id/runs/:run_id/debug",
    id: "debugRun",
    change: { action: "debug_run", kind: "Source" },
    summary: "Get what a run started from",
    neverEmpty: ["current_version"],
    description:
      "Code, event, props and `db`, to execute the run again elsewhere: `hw debug` does. Changes nothing. Values of secret props and accounts are not in it.",
    body: fields,
    responses: one(runInputsSchema),
    errors: [409, 413],
    handle: async (call, context) => {
      const { current_version: isCurrent } = call.body();
      const source = await sourceOf(call, context);
      const [id, runId] = [publicIdOf(source), pathOf(call, "run_id")];
      const run = await context.ports.history.findRun(id, runId);
      if (run === undefined) throw new NotFound(`record not found: source ${id} has no run ${runId}, or it was deleted`);
      const { debugging } = context;
      if (debugging.waitingFor(call.user.id) >= maxWaiting)
        throw new QuotaUsedUp(`${maxWaiting} of your requests of this kind wait: try again as Retry-After says`, 1_000, {
          code: "rate_limited",
        });
      return ok(await debugging.use(call.user.id, () => runInputs(source, run, isCurrent === true, call.user, context)));
    },
  }),
];
