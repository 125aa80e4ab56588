import { controlLimits } from "./control.ts";
import { maxCharacters } from "./expression-parser.ts";
import { hasExpression, wholeExpression } from "./expressions.ts";
import { stepNamePattern, triggerStep } from "./step-id.ts";
import { controlFields, listOf, listsOf, type ControlField, type StepControl, type StepNode } from "./step-control.ts";
import { exceedsLimits, flatten } from "./step-tree.ts";

/** The fields that belong to each of them. */
const fieldsOf: Readonly<Record<ControlField, readonly (keyof StepControl)[]>> = {
  if: ["then", "elseIf", "else"],
  switch: ["cases", "default"],
  forEach: ["as", "maxItems", "onError", "concurrency", "steps"],
  parallel: [],
  while: ["maxIterations", "steps"],
  try: ["catch", "finally"],
  stop: [],
  workflow: ["event", "wait"],
};

export interface TreeProblem {
  /** In the tree: `steps[0].then[1].if`. */
  readonly path: string;
  readonly message: string;
}

/** What is wrong with the form of a tree: names, missing parts, fields that belong to no or another control, depth and number of steps. */
export function treeProblems<Node extends StepNode<Node>>(steps: readonly Node[]): readonly TreeProblem[] {
  if (exceedsLimits(steps)) {
    const { steps: count, depth } = controlLimits;
    return [{ path: "steps", message: `a workflow may have ${count} steps, those within others included, in ${depth} levels` }];
  }
  const flat = flatten(steps);
  const problems = flat.flatMap(({ node, path }) => nodeProblems(node, path));
  const names = new Set<string>();
  for (const { node, path } of flat) {
    if (node.name === triggerStep) problems.push({ path: `${path}.name`, message: reserved });
    else if (names.has(node.name))
      problems.push({
        path: `${path}.name`,
        message: `step '${node.name}' occurs twice: expressions read exports by the step's name, so give each step another`,
      });
    names.add(node.name);
  }
  for (const { node, path, control, readable } of flat) {
    if (control?.as === undefined) continue;
    if (control.as === triggerStep) problems.push({ path: `${path}.as`, message: reserved });
    else if (names.has(control.as) || readable.includes(control.as))
      problems.push({
        path: `${path}.as`,
        message: `step '${node.name}': '${control.as}' is the name of a step or of an outer loop: give its items another (as)`,
      });
  }
  for (const { node, path, value = "" } of flat)
    if (typeof value === "string" && value.length > maxCharacters)
      problems.push({
        path,
        message: `step '${node.name}': its conditions have more than ${maxCharacters} characters together, the limit`,
      });
  return problems;
}

const reserved = `a step cannot be named '${triggerStep}': steps.${triggerStep} is the event that started the run`;

function nodeProblems<Node>(node: StepNode<Node>, path: string): TreeProblem[] {
  const given = controlFields.filter((field) => node[field] !== undefined);
  const [field] = given;
  if (given.length > 1) return [{ path, message: `step '${node.name}' has both ${given[0]} and ${given[1]}: nest one in the other` }];
  const own: readonly (keyof StepControl)[] = field === undefined ? [] : fieldsOf[field];
  const strange = Object.values(fieldsOf)
    .flat()
    .find((each) => node[each] !== undefined && !own.includes(each));
  const say = (name: string, message: string): TreeProblem => ({ path: `${path}.${name}`, message: `step '${node.name}': ${message}` });
  return [
    ...(strange === undefined ? [] : [say(strange, `${strange} belongs to ${ownersOf(strange).join(" or ")}, which it does not have`)]),
    ...(field === undefined ? [] : conditionProblems(node, field, say)),
  ];
}

const ownersOf = (field: keyof StepControl): readonly string[] => controlFields.filter((control) => fieldsOf[control].includes(field));

function conditionProblems<Node>(
  node: StepNode<Node>,
  field: ControlField,
  say: (name: string, message: string) => TreeProblem,
): readonly TreeProblem[] {
  const expressions: readonly (readonly [string, string | undefined])[] = [
    ...(field === "try" || field === "stop" || field === "workflow" || field === "parallel" ? [] : [[field, node[field]] as const]),
    ...listOf(node.elseIf).map((each, index) => [`elseIf[${index}].if`, each.if] as const),
    ...listOf(node.cases).flatMap(({ when }, index) => (when === undefined ? [] : [[`cases[${index}].when`, when] as const])),
  ];
  const lists: readonly (readonly [string, readonly Node[] | undefined])[] = [
    ...(field === "if" ? [["then", node.then] as const] : []),
    ...(field === "forEach" || field === "while" ? [["steps", node.steps] as const] : []),
    ...(field === "try" ? [["try", node.try] as const] : []),
    ...listsOf(node.parallel).map((steps, index) => [`parallel[${index}]`, steps] as const),
  ];
  return [
    ...expressions
      .filter(([, text]) => text !== undefined && wholeExpression(text) === undefined)
      .map(([name]) => say(name, `${name} must be one expression, such as {{ steps.trigger.event.body.total > 100 }}`)),
    ...lists.filter(([, steps]) => steps === undefined || steps.length === 0).map(([name]) => say(name, `${name} needs at least one step`)),
    ...(field === "parallel" && listsOf(node.parallel).length < 2 ? [say("parallel", "parallel needs at least two lists of steps")] : []),
    ...(field === "switch" && listOf(node.cases).length === 0 ? [say("cases", "switch needs at least one case")] : []),
    ...listOf(node.cases)
      .map(({ equals, when }, index) => ({ index, both: (equals === undefined) === (when === undefined) }))
      .filter(({ both }) => both)
      .map(({ index }) => say(`cases[${index}]`, "a case has either equals or when")),
    ...(field === "workflow" && (node.workflow === "" || hasExpression(node.workflow))
      ? [say("workflow", "workflow must be the id of a workflow, such as p_ab12, or its name: it has no expressions")]
      : []),
    ...(field === "try" && node.catch === undefined && node.finally === undefined ? [say("try", "try needs catch or finally")] : []),
    ...(node.as !== undefined && !stepNamePattern.test(node.as)
      ? [say("as", "as must begin with a letter, _ or $, and have at most 63 letters, digits, _ and $")]
      : []),
  ];
}
