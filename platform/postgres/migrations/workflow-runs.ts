import { statements } from "./first-migrations.ts";

/** Runs of workflows, and the attempts of their steps. Both are deleted with the workflow, and pruned by status: see history/workflows. */
export const workflowRunTables = statements`
    create table workflow_runs (
      workflow text not null,
      id text not null,
      n bigint generated always as identity,
      number integer not null,
      owner text not null,
      deployment text not null,
      trigger text not null,
      status text not null,
      started_ms bigint not null,
      ended_ms bigint,
      resume_at_ms bigint,
      step_count integer not null,
      steps_done integer not null,
      compute_ms bigint not null,
      cause_emitter text,
      cause_emit_id text,
      reason text,
      event text,
      failed_step text,
      error text,
      primary key (workflow, id)
    ) with (autovacuum_vacuum_scale_factor = 0.05);
    create index workflow_runs_in_order on workflow_runs (workflow, n);
    create index workflow_runs_by_status on workflow_runs (workflow, status, n);
    create index workflow_runs_of_event on workflow_runs (cause_emitter, cause_emit_id) where cause_emit_id is not null;

    create table workflow_steps (
      workflow text not null,
      run text not null,
      number integer not null,
      step text not null,
      name text not null,
      place integer not null,
      attempt integer not null,
      started_ms bigint not null,
      duration_ms double precision not null,
      cpu_ms double precision not null,
      outcome text not null,
      inputs text,
      exports text not null,
      error text,
      logs text not null,
      primary key (workflow, run, number)
    ) with (autovacuum_vacuum_scale_factor = 0.05);
  `;
