import { holderOf } from "../../../crds/secret-values.ts";
import { workflowKind, type WorkflowResource } from "../../../crds/workflow.ts";
import { LimitExceeded } from "../../../domain/errors.ts";
import { PropReloads, type Reloadable } from "../../configured/prop-reloads.ts";
import type { EndConnections } from "../../end-connections.ts";
import type { OperatorPorts } from "../../ports.ts";
import type { Observed, ObservedStep } from "../observe/observed.ts";
import type { PlanInputs } from "../plan/inputs.ts";
import { reportBlocked } from "../plan/plan-running.ts";
import type { Step } from "../plan/step.ts";
import { apply, type Applied } from "./apply.ts";

/** Delay until the next look at a call of `additionalProps` that runs. */
const reloadWaitMs = 500;

/**
 * Runs the steps of plans. Between plans it remembers results of `additionalProps`, and specs whose entry NATS refuses. Both are found again
 * after a restart.
 */
export class PlanRunner {
  readonly #ports: OperatorPorts;
  readonly #endConnections: EndConnections;
  readonly #reloads: PropReloads;
  /** By uid: generation, and what is too large. */
  readonly #refused = new Map<string, { readonly generation: number; readonly message: string }>();

  constructor(ports: OperatorPorts, endConnections: EndConnections) {
    this.#ports = ports;
    this.#endConnections = endConnections;
    this.#reloads = new PropReloads(ports);
  }

  /** Adds what is remembered of the workflow. */
  withMemory(observed: Observed): Observed {
    const { uid, generation } = observed.workflow.metadata;
    const refused = this.#refused.get(uid);
    return {
      ...observed,
      tooLarge: refused?.generation === generation ? refused.message : undefined,
      steps: observed.steps.map((step) => this.#withReload(step, uid)),
    };
  }

  /** Call it when it is deployed: the status has all results. */
  forgetResults({ workflow }: Observed): void {
    this.#reloads.forget(workflow);
  }

  /** @returns ms until the next pass if a call is running; undefined when the workflow can be observed again */
  async run(steps: readonly Step[], observed: Observed, inputs: PlanInputs, signal: AbortSignal): Promise<number | undefined> {
    let { workflow } = observed;
    for (const step of steps) {
      signal.throwIfAborted();
      switch (step.do) {
        case "reload-props":
          if (!(await this.#reload(step, observed, signal))) return this.#waitForProps(observed, inputs);
          break;
        case "end-connections":
          await this.#endConnections(workflow);
          break;
        case "release":
          this.#reloads.forget(workflow);
          this.#refused.delete(workflow.metadata.uid);
          workflow = await this.#apply(step, workflow, observed);
          break;
        default:
          workflow = await this.#apply(step, workflow, observed);
      }
    }
    return undefined;
  }

  /** Props that were returned count as known: they are stored with the version. */
  #withReload(step: ObservedStep, uid: string): ObservedStep {
    const reloaded = this.#reloads.find(keyOf(uid, step));
    if (reloaded === undefined || "blocked" in reloaded) return { ...step, reloaded };
    return { ...step, reloaded, status: { configurableProps: reloaded.props, configurableFor: reloaded.digest } };
  }

  async #reload({ steps }: Extract<Step, { do: "reload-props" }>, observed: Observed, signal: AbortSignal): Promise<boolean> {
    const called = steps.flatMap(({ id, digest }) => {
      const step = observed.steps.find((each) => each.id === id);
      return step === undefined ? [] : [this.#reloads.run(reloadable(step, observed), digest, signal)];
    });
    return (await Promise.all(called)).every((hasEnded) => hasEnded);
  }

  async #waitForProps(observed: Observed, inputs: PlanInputs): Promise<number> {
    const message = "additionalProps of a step's component was called and has not ended: check that a runner is up";
    for (const step of reportBlocked(observed, { reason: "AdditionalPropsPending", message, transient: true }, inputs))
      if (step.do === "report") await apply(step, observed.workflow, observed.id, this.#ports);
    return reloadWaitMs;
  }

  async #apply(step: Applied, workflow: WorkflowResource, { id }: Observed): Promise<WorkflowResource> {
    try {
      return await apply(step, workflow, id, this.#ports);
    } catch (error) {
      if (!(error instanceof LimitExceeded) || step.do !== "write-deployment") throw error;
      const { uid, generation } = workflow.metadata;
      this.#refused.set(uid, { generation, message: error.message });
      return workflow;
    }
  }
}

const keyOf = (uid: string, { id }: ObservedStep): string => `${uid} ${id}`;

function reloadable(step: ObservedStep, { workflow, id, owner = "" }: Observed): Reloadable {
  const { component, spec, status } = step;
  return {
    key: keyOf(workflow.metadata.uid, step),
    holder: holderOf(workflowKind, workflow),
    owner,
    id,
    component,
    spec,
    status,
    endpoint: workflow.status.endpoint ?? null,
  };
}
