import type { WorkflowSpec, WorkflowStep } from "../../../crds/workflow.ts";
import type { Build, ComponentDefinition } from "../../../domain/component/definition.ts";
import { canonicalJson } from "../../../domain/canonical-json.ts";
import { runtimeProps } from "../../../domain/component/prop-values.ts";
import { parseWorkflowTimer, type TimerSchedule } from "../../../domain/schedule/schedule.ts";
import { idOfResourceName } from "../../../domain/ids.ts";
import type { Control } from "../../../domain/workflow/control.ts";
import type { StepDeployment, WorkflowDeployment, WorkflowSettings } from "../../../domain/workflow/deployment.ts";
import { boundProps } from "../../../domain/component/configure.ts";
import { buildFor } from "../../configured/additional-props.ts";
import { currentBuild } from "../../configured/component.ts";
import { secretPropsOf } from "../../configured/secret-props.ts";
import type { Observed, ObservedStep } from "../observe/observed.ts";
import type { VersionStep, WorkflowVersion } from "../../versions.ts";
import type { PlanInputs } from "./step.ts";

/** The requested version. */
export interface Desired {
  /** Without secrets and resume key, which are sealed when it is written. */
  readonly deployment: WorkflowDeployment;
  readonly version: WorkflowVersion;
}

/** The version that the spec describes; undefined if `blockedBy` has a reason against it. */
export function desiredVersion(observed: Observed, owner: string, inputs: PlanInputs): Desired | undefined {
  const { workflow, id, pool } = observed;
  const { metadata, spec, status } = workflow;
  const steps = observed.steps.flatMap((step) => desiredStep(step) ?? []);
  if (steps.length < observed.steps.length) return undefined;
  const timers = timersOf(spec);
  const http = spec.triggers.find((trigger) => trigger.http !== undefined)?.http;
  return {
    deployment: {
      workflow: id,
      owner,
      pool,
      name: spec.name ?? metadata.name,
      id: inputs.deployment,
      generation: metadata.generation,
      active: spec.active,
      steps: steps.map(({ deployment }) => deployment),
      settings: settingsOf(spec),
      ...(Object.keys(timers).length === 0 ? {} : { timers }),
      ...offSince(observed, inputs),
      endpoint: endpointUrl(status.endpointKey ?? "", inputs),
      resumeKey: "",
    },
    version: {
      deployment: inputs.deployment,
      deployedAt: inputs.now,
      steps: steps.map(({ version }) => version),
      triggers: {
        hasHttpTrigger: http !== undefined,
        customResponse: http !== undefined && (http.customResponse ?? observed.steps.some(callsRespond)),
        ...(spec.triggers.some(({ email }) => email !== undefined) ? { hasEmailTrigger: true as const } : {}),
        sources: [...new Set(observed.triggers.flatMap(({ source }) => source ?? []))].toSorted(),
      },
    },
  };
}

/** Also kept by the version that switches the workflow on; later ones of an active workflow do not have it. */
function offSince({ workflow: { spec }, deployed }: Observed, { now }: PlanInputs): Pick<WorkflowDeployment, "offSince"> {
  if (deployed === undefined || (deployed.active && spec.active)) return {};
  if (deployed.active) return { offSince: now };
  return deployed.offSince === undefined ? {} : { offSince: deployed.offSince };
}

export const endpointUrl = (key: string, { ingressUrl }: Pick<PlanInputs, "ingressUrl">): string => `${ingressUrl}/${key}`;

/** Does the entry differ from the requested version only in its id, what is sealed, and its past? */
export function isDeployed({ deployed, versions }: Observed, { deployment, version }: Desired): boolean {
  const current = deployed === undefined ? undefined : versions.get(deployed.id);
  if (deployed === undefined || current === undefined) return false;
  return (
    canonicalJson(unsealed(deployed)) === canonicalJson(unsealed(deployment)) &&
    canonicalJson(current.triggers) === canonicalJson(version.triggers)
  );
}

function unsealed({ id: _id, resumeKey: _key, offSince: _since, steps, ...rest }: WorkflowDeployment): object {
  return { ...rest, steps: steps.map(({ secrets: _secrets, secretsSeen: _seen, ...step }) => step) };
}

type DeployedStep = Pick<StepDeployment, "id" | "name" | "continueOnError" | "retries" | "timeoutMs"> &
  Pick<WorkflowStep, "props"> & { readonly control?: Control | undefined; readonly readsVariables?: boolean | undefined };

/** Without secrets. @param all its definition, including the additional props */
export function stepDeployment(step: DeployedStep, own: Build, all: ComponentDefinition): StepDeployment {
  const { id, name, props, continueOnError, retries, timeoutMs, control, readsVariables = false } = step;
  const { bundle, needsNode } = own;
  const additionalProps = boundProps(own.definition, all.props);
  const additional = additionalProps.length === 0 ? {} : { additionalProps };
  return {
    id,
    name,
    bundle,
    needsNode,
    props: runtimeProps(all, props),
    secrets: null,
    ...additional,
    ...(readsVariables ? { readsVariables: true } : {}),
    continueOnError,
    retries,
    timeoutMs,
    ...(control === undefined ? {} : { control }),
  };
}

function desiredStep(observed: ObservedStep): { readonly deployment: StepDeployment; readonly version: VersionStep } | undefined {
  const { step, id, component, spec } = observed;
  const build = buildFor(observed, component);
  const own = currentBuild(component);
  if (component === undefined || build === undefined || own === undefined) return undefined;
  const { configurableProps, configurableFor } = build === own ? {} : observed.status;
  return {
    deployment: stepDeployment(
      {
        name: step.name,
        id,
        props: spec.props,
        continueOnError: step.continueOnError,
        retries: step.retries,
        timeoutMs: step.timeoutSeconds === undefined ? null : step.timeoutSeconds * 1_000,
        control: observed.control,
        readsVariables: step.code !== undefined || (step.componentRef !== undefined && step.readsVariables === true),
      },
      own,
      build.definition,
    ),
    version: {
      id,
      name: step.name,
      component: component.metadata.name,
      componentId: component.status.id ?? idOfResourceName(component.metadata.name) ?? component.metadata.name,
      secrets: secretPropsOf(observed, build.definition),
      ...(configurableProps === undefined ? {} : { configurableProps }),
      ...(configurableFor === undefined ? {} : { configurableFor }),
    },
  };
}

function settingsOf({ settings: { concurrency, throttle, queueSize, ordered, errorMails } }: WorkflowSpec): WorkflowSettings {
  return {
    concurrency: concurrency ?? null,
    throttle: throttle ?? null,
    queueSize: queueSize ?? null,
    ordered,
    ...(errorMails ? {} : { errorMails }),
  };
}

/** By name: `timer-<index of the trigger>`, so that no timer has the name of a run. */
function timersOf({ triggers }: WorkflowSpec): Readonly<Record<string, TimerSchedule>> {
  return Object.fromEntries(
    triggers.flatMap(({ timer }, index): readonly [string, TimerSchedule][] =>
      timer === undefined ? [] : [[`timer-${index}`, parseWorkflowTimer(timer)]],
    ),
  );
}

/** Whether the text of the step's module calls `$.respond`. A call by another name, such as one of a library, is not found. */
function callsRespond({ component }: ObservedStep): boolean {
  const { code = "", files = {} } = component?.spec ?? {};
  return [code, ...Object.values(files)].some((text) => /\$\s*\.\s*respond\b/.test(text));
}
