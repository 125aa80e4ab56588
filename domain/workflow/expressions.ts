import { suggestion } from "../nearest-name.ts";
import type { Warning } from "../component/warning.ts";
import { namesReadBy } from "./expression-names.ts";
import { maxCharacters, parseExpression } from "./expression-parser.ts";
import { isSandboxGlobal } from "./sandbox-globals.ts";
import { triggerStep } from "./step-id.ts";

/**
 * Expressions in the props of steps, `{{ steps.trigger.event.body }}`: JavaScript that the sandbox evaluates before the step runs. Here
 * they are only read, to refuse mistakes before a workflow is deployed. An expression ends at the first `}}` that makes it one, so that
 * `{{ {a: {b: 1}} }}` is one; `{{` without a `}}` behind it is text. The sandbox's guest, action/template.ts, finds the same ones.
 */
export interface ExpressionProblem {
  /** Where it is in the props: `headers[0].value`. */
  readonly path: string;
  readonly message: string;
}

/** Something that is read in a text. */
export interface FoundExpression {
  readonly path: string;
  /** Between the braces. */
  readonly source: string;
  /** Names of the steps that it reads; a name that is computed is unknown. */
  readonly steps: readonly string[];
  /** Those among them of which it reads a property without `?.`. */
  readonly required: readonly string[];
  /** Names that it reads as `env.NAME` or `process.env.NAME`. */
  readonly environment: readonly string[];
  /** Names of the variables that it reads and does not declare. */
  readonly variables: readonly string[];
  /** Why it is no expression; absent if it is one. */
  readonly problem?: string;
}

/** Levels of arrays and objects in a prop; texts below are not evaluated. */
const maxDepth = 100;
const maxProblems = 20;
const maxShown = 200;

/** Bounds what reading the expressions of one document costs: a workflow, or the draft of one. */
export class ExpressionBudget {
  static readonly maxCharacters = 128 * 1024;
  /** What an empty expression costs. */
  static readonly #perExpression = 20;
  #left = ExpressionBudget.maxCharacters;

  get isUsedUp(): boolean {
    return this.#left <= 0;
  }

  spend(characters: number): void {
    this.#left -= characters + ExpressionBudget.#perExpression;
  }
}

/**
 * @param earlierSteps names of the steps that run before; `trigger` is always known
 * @param budget shared by the steps of a document
 */
export function expressionProblems(
  step: string,
  props: Readonly<Record<string, unknown>>,
  earlierSteps: readonly string[],
  budget = new ExpressionBudget(),
): readonly ExpressionProblem[] {
  const known = [triggerStep, ...earlierSteps];
  const problems: ExpressionProblem[] = [];
  for (const { path, source, steps, problem } of findExpressions(props, budget)) {
    const where = `step '${step}', prop '${shown(path)}': {{${shown(source)}}}`;
    if (problem !== undefined) {
      const message = `${where} is no JavaScript expression: ${problem}; for braces that are text, write {{ "{{" }}`;
      problems.push({ path, message });
    }
    for (const name of steps) {
      if (problems.length >= maxProblems) break;
      if (known.includes(name)) continue;
      const hint = suggestion(name, known, `: it can read ${known.join(", ")}`);
      problems.push({ path, message: `${where} reads steps.${shown(name)}, and no step of this name runs before it${hint}` });
    }
    if (problems.length >= maxProblems) break;
  }
  if (budget.isUsedUp && problems.length < maxProblems) problems.push(tooMuch(step));
  return problems;
}

const tooMuch = (step: string): ExpressionProblem => ({
  path: "",
  message: `step '${step}': the expressions of the workflow have more than ${ExpressionBudget.maxCharacters} characters together, the limit: move code into steps`,
});

/** Probable mistakes in expressions that are valid: variables that do not exist when they are evaluated, and `{{` without `}}`. */
export function expressionWarnings(
  step: string,
  props: Readonly<Record<string, unknown>>,
  earlierSteps: readonly string[],
  budget = new ExpressionBudget(),
): readonly Warning[] {
  const warnings: Warning[] = [];
  const warn = (code: string, path: string, message: string): void =>
    void warnings.push({
      code,
      message: `step '${step}', prop '${shown(path)}': ${message}`,
      path: `steps.${step}.props.${path.slice(0, maxShown)}`,
    });
  for (const { path, text } of textsIn(props)) {
    if (warnings.length >= maxProblems) break;
    const read = budget.isUsedUp ? undefined : readText(text, budget);
    for (const { source, variables } of read?.expressions ?? []) {
      for (const name of variables.filter((each) => !isSandboxGlobal(each) && !known.has(each)).slice(0, maxProblems))
        warn("unknown_name", path, `{{${shown(source)}}} reads ${shown(name)}, which is not defined${nameHint(name, earlierSteps)}`);
    }
    if (read?.open !== undefined)
      warn(
        "unclosed_expression",
        path,
        `{{${shown(read.open)} has no }} behind it and stays text; close it, or write {{ "{{" }} for braces`,
      );
  }
  return warnings.slice(0, maxProblems);
}

/** What expressions read, besides the globals. */
const known: ReadonlySet<string> = new Set(["steps", "env", "process"]);

function nameHint(name: string, earlierSteps: readonly string[]): string {
  if (earlierSteps.includes(name)) return `: did you mean steps.${name}?`;
  if (name === "event" || name === triggerStep) return `: the event of the trigger is steps.${triggerStep}.event`;
  return suggestion(name, [...known], ": expressions read exports of earlier steps as steps.<name>, and the event as steps.trigger.event");
}

/** In order. Of a text with a mistake, those before it and the mistake. Ends when the budget is used up. */
export function* findExpressions(props: Readonly<Record<string, unknown>>, budget = new ExpressionBudget()): Generator<FoundExpression> {
  for (const { path, text } of textsIn(props)) {
    if (budget.isUsedUp) return;
    for (const found of readText(text, budget).expressions) yield { path, ...found };
  }
}

/** What is between the braces of a text that is one expression, with nothing but spaces around it; undefined for other texts. */
export function wholeExpression(text: string): string | undefined {
  const [found, another] = findExpressions({ text });
  if (found === undefined || another !== undefined || found.problem !== undefined) return undefined;
  return text.trim() === `{{${found.source}}}` ? found.source : undefined;
}

/** Whether a value contains an expression, or a mistake in one. Parses nothing. */
export function hasExpression(value: unknown): boolean {
  for (const { text } of textsIn({ value })) if (text.includes("}}", text.indexOf("{{") + 2)) return true;
  return false;
}

interface FoundText {
  readonly path: string;
  readonly text: string;
}

/** Texts with `{{`. */
function* textsIn(props: Readonly<Record<string, unknown>>): Generator<FoundText> {
  for (const [name, value] of Object.entries(props)) yield* textsOf(value, name, 0);
}

function* textsOf(value: unknown, path: string, depth: number): Generator<FoundText> {
  if (typeof value === "string") {
    if (value.includes("{{")) yield { path, text: value };
    return;
  }
  if (typeof value !== "object" || value === null || depth >= maxDepth) return;
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* textsOf(item, `${path}[${index}]`, depth + 1);
  else for (const [key, item] of Object.entries(value)) yield* textsOf(item, `${path}.${key}`, depth + 1);
}

interface ReadText {
  readonly expressions: readonly Omit<FoundExpression, "path">[];
  /** What follows a `{{` without `}}`. */
  readonly open?: string;
  /** Of the budget. */
  readonly costs: readonly number[];
}

/**
 * Texts that were read, the most recently used last: a workflow is checked again with each change of it, by the operator and the API. What
 * is kept depends on the text alone.
 */
const readTexts = new Map<string, ReadText>();
const maxKept = 1024 * 1024;
let keptCharacters = 0;

function readText(text: string, budget: ExpressionBudget): ReadText {
  const known = readTexts.get(text);
  const read = known ?? parseText(text, budget);
  if (known !== undefined) {
    readTexts.delete(text);
    for (const cost of known.costs) budget.spend(cost);
  }
  // What a used-up budget cut off is not all of the text.
  if (known !== undefined || !budget.isUsedUp) keep(text, read, known === undefined);
  return read;
}

function keep(text: string, read: ReadText, isNew: boolean): void {
  readTexts.set(text, read);
  if (isNew) keptCharacters += text.length;
  for (const [oldest] of readTexts) {
    if (keptCharacters <= maxKept) return;
    readTexts.delete(oldest);
    keptCharacters -= oldest.length;
  }
}

function parseText(text: string, budget: ExpressionBudget): ReadText {
  const expressions: Omit<FoundExpression, "path">[] = [];
  const costs: number[] = [];
  for (let start = text.indexOf("{{"); start !== -1 && !budget.isUsedUp;) {
    const parsed = parseExpression(text.slice(start + 2));
    if (parsed === undefined) return { expressions, costs, open: text.slice(start + 2, start + 2 + maxShown + 1) };
    const { source, result } = parsed;
    const isProblem = typeof result === "string";
    // A mistake may be found anywhere up to the limit.
    const cost = isProblem ? Math.min(text.length - start, maxCharacters) : source.length;
    costs.push(cost);
    budget.spend(cost);
    if (isProblem)
      return { expressions: [...expressions, { source, steps: [], required: [], environment: [], variables: [], problem: result }], costs };
    expressions.push({ source, ...namesReadBy(result) });
    start = text.indexOf("{{", start + 2 + source.length + 2);
  }
  return { expressions, costs };
}

const shown = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
