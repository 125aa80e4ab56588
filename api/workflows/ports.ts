import type { PropDefinition } from "../../domain/component/definition.ts";
import type { Backfill } from "../../domain/schedule/backfill.ts";
import type { TimerSchedule } from "../../domain/schedule/schedule.ts";
import type { Control } from "../../domain/workflow/control.ts";

/** Steps of a workflow that are tested before they are saved. */
export interface DraftRequest {
  readonly namespace: string;
  /** Name of the Workflow, whose secrets are the default for absent ones. */
  readonly workflow: string;
  readonly draft: readonly DraftStep[];
}

export interface DraftStep {
  /** Id of the stored step, `c_…`, if it has another name. */
  readonly id?: string;
  readonly name: string;
  /** Name of the Component. */
  readonly component: string;
  /** Secret values too. */
  readonly props: Readonly<Record<string, unknown>>;
  /** All props for these values, if the component adds some. */
  readonly configurableProps?: readonly PropDefinition[];
  readonly continueOnError: boolean;
  readonly retries: number;
  readonly timeoutMs: number | null;
  /** Its code reads variables. */
  readonly readsVariables?: boolean;
  /** Of a step that controls others: the draft is then the flat list of all steps. */
  readonly control?: Control;
}

/** Past ticks of a timer that are to run. */
export interface BackfillRequest {
  /** Unique; run ids follow from it. */
  readonly id: string;
  /** Id of the workflow. */
  readonly source: string;
  readonly owner: string;
  readonly pool: string;
  /** The runner must have seen this generation of the workflow. */
  readonly generation: number;
  readonly schedule: TimerSchedule;
  /** Epoch ms. */
  readonly firstAt: number;
  readonly backfill: Backfill;
}
