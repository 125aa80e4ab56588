import type { BoundProp } from "../component/configure.ts";
import type { Control } from "./control.ts";
import type { MovedDeployment } from "../source/deployment.ts";
import type { TimerSchedule } from "../schedule/schedule.ts";

/**
 * One version of a workflow as runners see it: an entry of the bucket DEPLOYMENTS, written by the operator. The current version is under
 * `deploymentKey(pool, workflow)`; each version, also after it was replaced, is under `deploymentKey(pool, versionName(workflow, id))`,
 * because a run finishes on the version with which it began.
 */
export interface WorkflowDeployment {
  /** Public id, `p_…`. */
  readonly workflow: string;
  readonly owner: string;
  /** Pool whose runners run it and get its invocations. */
  readonly pool: string;
  readonly name: string;
  /** `d_…`, new for each version. */
  readonly id: string;
  /** Generation of the Workflow resource. */
  readonly generation: number;
  readonly active: boolean;
  readonly steps: readonly StepDeployment[];
  readonly settings: WorkflowSettings;
  /** Schedules of its timer triggers by name, which is the `chain` of their ticks; absent: none. */
  readonly timers?: Readonly<Record<string, TimerSchedule>>;
  /**
   * Epoch ms at which the workflow was switched off. A version that switches it on again has the time at which it had been switched off:
   * its timers may catch up from there. Absent: it was on before, too.
   */
  readonly offSince?: number;
  /** Public URL of its endpoint: the address of its HTTP trigger, and the start of its resume URLs. */
  readonly endpoint: string;
  /** Sealed for the pool: the key that signs resume URLs, see resume-urls.ts. The endpoint's entry has the same key. */
  readonly resumeKey: string;
}

/** One step of a workflow: an action with its props. The steps within another one follow it, see control.ts. */
export interface StepDeployment {
  /** `c_…`: see `stepId`. */
  readonly id: string;
  /** Name by which later steps read its exports. */
  readonly name: string;
  readonly bundle: string;
  readonly needsNode: boolean;
  /** Values by prop name, secrets absent. Texts may contain expressions, see expressions.ts. */
  readonly props: Readonly<Record<string, unknown>>;
  /** Compact JWE, sealed for the pool: JSON object of the secret values by prop name; null without any. */
  readonly secrets: string | null;
  /** Sealed for the operator: a digest of the secret values, to detect changes in their Secrets. */
  readonly secretsSeen?: string;
  /** Its code is that of the workflow, and reads variables as `process.env`; absent: a saved or registry component, which does not. */
  readonly readsVariables?: true;
  /** Result of `additionalProps` when the step was configured; absent: nothing. */
  readonly additionalProps?: readonly BoundProp[];
  /** True: a failure is exported as `$error`, and the run continues with the next step. */
  readonly continueOnError: boolean;
  /** Number of attempts after the first one has failed. */
  readonly retries: number;
  /** Wall time of one attempt; null: the run timeout of the installation. */
  readonly timeoutMs: number | null;
  /** The steps behind it that run depending on what it returns; absent: none do. */
  readonly control?: Control;
}

export interface WorkflowSettings {
  /** Maximum runs at once; null: no limit of its own. Suspended runs do not count. */
  readonly concurrency: number | null;
  /** Maximum runs that start within the interval; null: any number. */
  readonly throttle: { readonly runs: number; readonly intervalSeconds: number } | null;
  /** Maximum runs that wait; beyond it endpoints answer 429 and deliveries wait. Null: the limit of the installation. */
  readonly queueSize: number | null;
  /** True: runs one at a time, in the order in which their events were stored. */
  readonly ordered: boolean;
  /** False: its owner gets no mail about its errors. The runner copies it into commits with an error. */
  readonly errorMails?: boolean;
}

export const defaultWorkflowSettings: WorkflowSettings = { concurrency: null, throttle: null, queueSize: null, ordered: false };

/** Name of a version in the keys of DEPLOYMENTS: one token, so that runners may read it like other entries of their pool. */
export const versionName = (workflow: string, deployment: string): string => `${workflow}-${deployment}`;

/** An entry whose key names a workflow, or a version of one. */
export type WorkflowEntry = WorkflowDeployment | MovedDeployment;

export const isWorkflow = (entry: object): entry is WorkflowDeployment => "workflow" in entry;
