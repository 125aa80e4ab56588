import { transaction, type Migration } from "./step.ts";

/** What leads from a run to its cause and to what it has caused, see `../history/traces`. Earlier rows have only what they had. */
export const traceColumns: Migration = {
  name: "m0038-traces",
  steps: [
    transaction(`
      alter table runs add column cause_emitter text, add column cause_emit_id text;
      alter table workflow_runs add column queued_ms bigint, add column trace_id text;`),
    { kind: "index", name: "runs_of_event", on: "runs (cause_emitter, cause_emit_id) where cause_emit_id is not null" },
    { kind: "index", name: "workflow_runs_by_id", on: "workflow_runs (id)" },
    // The id of a delivery is that of the emit, and of the subscription: receivers know the first as `webhook-id`.
    { kind: "index", name: "attempts_of_emit", on: "attempts (split_part(delivery, '.', 1))" },
    { kind: "index", name: "dead_letters_of_emit", on: "dead_letters (split_part(delivery, '.', 1))" },
  ],
};
