import { triggerSubscriptionName } from "../../../crds/auto-subscription.ts";
import { parseWorkflowTimer } from "../../../domain/schedule/schedule.ts";
import { InvalidInput } from "../../../domain/errors.ts";
import { maxPropBytes } from "../../../domain/component/prop-types.ts";
import { ExpressionBudget, expressionProblems, hasExpression } from "../../../domain/workflow/expressions.ts";
import { treeProblems } from "../../../domain/workflow/step-tree-problems.ts";
import { whyNotAction } from "../../../domain/workflow/step-action.ts";
import { currentBuild } from "../../configured/component.ts";
import {
  additionalPropsAreKnown,
  componentExists,
  componentIsBuilt,
  propsAreValid,
  secretsAreReadable,
} from "../../configured/component-checks.ts";
import { nameTaken } from "../../configured/own-component.ts";
import { isMadeFor } from "../../configured/component.ts";
import { namespaceHasNoOwner } from "../../identity.ts";
import type { Observed, ObservedStep } from "../observe/observed.ts";
import type { Blocked } from "./blocked.ts";

/**
 * "Can it be deployed?": the problems of the spec, each named with its field. The reason is that of the first problem that needs a change by
 * the user, else of the first one.
 */
export function blockedBy(observed: Observed): Blocked | undefined {
  const { workflow, owner, tooLarge } = observed;
  if (owner === undefined) return { ...namespaceHasNoOwner(workflow.metadata.namespace), poll: true };
  const budget = new ExpressionBudget();
  const problems = [
    ...treeProblemsOf(observed),
    ...triggerProblems(observed),
    ...observed.steps.flatMap((step) => problemOf(step, observed, budget) ?? []),
  ];
  if (problems.length === 0)
    return tooLarge === undefined ? undefined : { reason: "TooLarge", transient: false, message: `${tooLarge}: use less or smaller props` };
  const first = problems.find(({ transient }) => !transient) ?? problems[0];
  return {
    reason: first?.reason ?? "InvalidProps",
    message: problems.map(({ message }) => message).join("; "),
    transient: problems.every(({ transient }) => transient),
    poll: problems.some(({ poll }) => poll === true),
  };
}

const treeProblemsOf = ({ workflow: { spec } }: Observed): readonly Blocked[] =>
  treeProblems(spec.steps).map(({ path, message }) => ({ reason: "InvalidStep", transient: false, message: `${path}: ${message}` }));

/** Why the step's own component cannot be written. */
export function codeBlockedBy({ step, component, code }: ObservedStep, { workflow }: Observed): Blocked | undefined {
  if (code === undefined) return undefined;
  return nameTaken(workflow, component, `step '${step.name}'`) ?? ("blocked" in code ? code.blocked : undefined);
}

/** @param budget of the expressions of all steps */
type Check = (step: ObservedStep, observed: Observed, budget: ExpressionBudget) => Blocked | undefined;
const checks: readonly Check[] = [
  calledWorkflowExists,
  codeBlockedBy,
  componentExists,
  componentIsBuilt,
  componentIsAction,
  secretsAreReadable,
  expressionsAreValid,
  staticTextFits,
  (step) => propsAreValid(step, () => undefined, dynamicProps(step)),
  additionalPropsAreKnown,
];

/** The first problem of a step. */
function problemOf(step: ObservedStep, observed: Observed, budget: ExpressionBudget): Blocked | undefined {
  for (const check of checks) {
    const blocked = check(step, observed, budget);
    if (blocked === undefined) continue;
    if (blocked.reason === "InvalidExpression" || blocked.reason === "WorkflowNotFound") return blocked; // Its message names step and prop.
    return { ...blocked, message: `step '${step.step.name}': ${fieldOf(step, blocked)}: ${blocked.message}` };
  }
  return undefined;
}

/** The field of the step that the problem is about. */
function fieldOf({ step }: ObservedStep, { reason }: Blocked): string {
  switch (reason) {
    case "SecretNotFound":
    case "SecretInvalid":
      return "secrets";
    case "InvalidProps":
    case "AccountNotFound":
    case "AccountOfOtherApp":
    case "AccountNotReady":
    case "AdditionalPropsPending":
    case "AdditionalPropsFailed":
      return "props";
    default:
      return (["componentRef", "componentKey", "url"] as const).find((field) => step[field] !== undefined) ?? "code";
  }
}

function componentIsAction({ component, componentName }: ObservedStep): Blocked | undefined {
  const definition = currentBuild(component)?.definition;
  if (definition === undefined || whyNotAction(definition) === undefined) return undefined;
  return {
    reason: "ComponentIsNoAction",
    transient: false,
    message: `component ${componentName} is a source: a step runs an action, whose definition has \`type: "action"\``,
  };
}

/** It may be created later, so it is looked for again. */
function calledWorkflowExists({ step, missing }: ObservedStep): Blocked | undefined {
  if (missing === undefined) return undefined;
  const message = `step '${step.name}': workflow: ${missing} does not exist, or does not belong to the owner of this namespace`;
  return { reason: "WorkflowNotFound", transient: true, poll: true, message };
}

/** An expression may read the trigger's event, the exports of the steps before, and the items of the loops around it. */
function expressionsAreValid({ step, expressions, readable }: ObservedStep, _: Observed, budget: ExpressionBudget): Blocked | undefined {
  const problems = expressionProblems(step.name, expressions, readable, budget);
  if (problems.length === 0) return undefined;
  return { reason: "InvalidExpression", transient: false, message: problems.map(({ message }) => message).join("; ") };
}

/** Values with expressions are evaluated when the step runs, so only their size is checked. */
function staticTextFits({ step }: ObservedStep): Blocked | undefined {
  for (const name of dynamicProps({ step })) {
    const value = step.props[name];
    const bytes = Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
    if (bytes <= maxPropBytes) continue;
    const message = `prop '${name}' has ${bytes} bytes: it may have at most ${maxPropBytes}`;
    return { reason: "InvalidProps", transient: false, message };
  }
  return undefined;
}

/** Props whose values have expressions. */
const dynamicProps = ({ step }: Pick<ObservedStep, "step">): readonly string[] =>
  Object.entries(step.props).flatMap(([name, value]) => (hasExpression(value) ? [name] : []));

function triggerProblems(observed: Observed): readonly Blocked[] {
  const { workflow, triggers, subscriptions, connectedSources } = observed;
  const { metadata, spec } = workflow;
  const timers = spec.triggers.flatMap(({ timer }, index): readonly Blocked[] => {
    const message = timer === undefined ? undefined : timerProblem(timer);
    return message === undefined ? [] : [{ reason: "InvalidTrigger", transient: false, message: `triggers[${index}].timer: ${message}` }];
  });
  const emails = spec.triggers.flatMap(({ email }, index): readonly Blocked[] => {
    if (email === undefined || observed.receivesEmails === true) return [];
    const message = `triggers[${index}].email: this installation receives no emails: its operator must set HEADWATER_EMAIL_DOMAIN`;
    return [{ reason: "InvalidTrigger", transient: false, message }];
  });
  const sources = triggers.flatMap(({ index, shown, source }): readonly Blocked[] => {
    if (source === undefined) return [sourceNotFound(index, shown, observed)];
    const made = subscriptions.get(triggerSubscriptionName(metadata.name, source));
    if (made === undefined || isMadeFor(workflow, made) || connectedSources.has(source)) return [];
    const message = `triggers[${index}]: subscription ${made.metadata.name} exists already, and this trigger needs that name: delete it`;
    return [{ reason: "NameTaken", transient: false, message }];
  });
  return [...timers, ...emails, ...sources];
}

/**
 * A source that the current version listens to was deleted, or is out of reach now: waiting for it would keep the caller of each change
 * waiting. Another one may be on its way, or not in the cache yet. In both cases the workflow is planned again when the source appears.
 */
function sourceNotFound(index: number, shown: string, { workflow, deployed, versions, presentSources }: Observed): Blocked {
  const running = versions.get(deployed?.id ?? "")?.triggers.sources ?? [];
  const lost = running.filter((source) => !presentSources.has(source));
  const isLost = lost.includes(shown) || (lost.length > 0 && workflow.spec.triggers[index]?.sourceRef !== undefined);
  const why = isLost
    ? "it was deleted, or its owner is no longer within reach: remove the trigger, or let it name another source"
    : "it does not exist, or belongs neither to the owner of this namespace nor to one of their organizations";
  return { reason: "SourceNotFound", transient: !isLost, message: `triggers[${index}]: source ${shown} is not found: ${why}` };
}

function timerProblem(timer: unknown): string | undefined {
  try {
    parseWorkflowTimer(timer);
    return undefined;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return error.message;
  }
}
