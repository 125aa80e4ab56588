import { type Node, parse } from "acorn";
import { suggestion } from "../nearest-name.ts";
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

export interface FoundExpression {
  readonly path: string;
  /** Between the braces. */
  readonly source: string;
  /** Names of the steps that it reads; a name that is computed is unknown. */
  readonly steps: readonly string[];
  /** Why it is no expression; absent if it is one. */
  readonly problem?: string;
}

/** Of an expression. */
const maxCharacters = 16 * 1024;
/** `}}` that may end one expression: each costs a parse. */
const maxEnds = 50;
/** Levels of arrays and objects in a prop; texts below are not evaluated. */
const maxDepth = 100;
const maxProblems = 20;
const maxShown = 200;

/** @param earlierSteps names of the steps that run before; `trigger` is always known */
export function expressionProblems(
  step: string,
  props: Readonly<Record<string, unknown>>,
  earlierSteps: readonly string[],
): readonly ExpressionProblem[] {
  const known = [triggerStep, ...earlierSteps];
  const problems: ExpressionProblem[] = [];
  for (const { path, source, steps, problem } of findExpressions(props)) {
    const where = `step '${step}', prop '${path}': {{${shown(source)}}}`;
    if (problem !== undefined) {
      const message = `${where} is no JavaScript expression: ${problem}; for braces that are text, write {{ "{{" }}`;
      problems.push({ path, message });
    }
    for (const name of steps.filter((each) => !known.includes(each))) {
      const hint = suggestion(name, known, `: it can read ${known.join(", ")}`);
      problems.push({ path, message: `${where} reads steps.${shown(name)}, and no step of this name runs before it${hint}` });
    }
    if (problems.length >= maxProblems) break;
  }
  return problems.slice(0, maxProblems);
}

/** In order. Of a text with a mistake, those before it and the mistake. */
export function* findExpressions(props: Readonly<Record<string, unknown>>): Generator<FoundExpression> {
  for (const [name, value] of Object.entries(props)) yield* expressionsIn(value, name, 0);
}

function* expressionsIn(value: unknown, path: string, depth: number): Generator<FoundExpression> {
  if (typeof value === "string") return yield* expressionsOfText(value, path);
  if (typeof value !== "object" || value === null || depth >= maxDepth) return;
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* expressionsIn(item, `${path}[${index}]`, depth + 1);
  else for (const [key, item] of Object.entries(value)) yield* expressionsIn(item, `${path}.${key}`, depth + 1);
}

function* expressionsOfText(text: string, path: string): Generator<FoundExpression> {
  let from = 0;
  for (;;) {
    const start = text.indexOf("{{", from);
    const found = start === -1 ? undefined : expressionAt(text, start + 2);
    if (found === undefined) return;
    yield { path, ...found };
    if (found.problem !== undefined) return;
    from = start + 2 + found.source.length + 2;
  }
}

function expressionAt(text: string, start: number): Omit<FoundExpression, "path"> | undefined {
  let first: Omit<FoundExpression, "path"> | undefined;
  let end = text.indexOf("}}", start);
  for (let ends = 0; end !== -1 && ends < maxEnds; ends++) {
    const source = text.slice(start, end);
    const parsed = end - start > maxCharacters ? `it has more than ${maxCharacters} characters, the limit` : parseExpression(source);
    if (typeof parsed !== "string") return { source, steps: stepsOf(parsed) };
    first ??= { source, steps: [], problem: parsed };
    if (end - start > maxCharacters) break;
    end = text.indexOf("}}", end + 1);
  }
  return first;
}

const prologue = `"use strict";`;

/** The syntax tree, or why there is none. */
function parseExpression(source: string): Node | string {
  const text = `${prologue}(${source}\n)`;
  try {
    const { body } = parse(text, { ecmaVersion: "latest", preserveParens: true });
    const [, statement, ...others] = body;
    // `1); other(2` would be two statements within the parentheses.
    if (statement?.type !== "ExpressionStatement" || others.length > 0) return "it has more than one statement";
    const { type, end } = statement.expression;
    return type === "ParenthesizedExpression" && end === text.length ? statement.expression : "its parentheses do not match";
  } catch (error) {
    // A RangeError: nested too deeply for the parser.
    if (!(error instanceof SyntaxError)) return "it is nested too deeply";
    return error.message.replace(/ \(\d+:\d+\)$/, "");
  }
}

/** Names read as `steps.name`, `steps["name"]` or `steps?.name`, each once. */
function stepsOf(root: Node): readonly string[] {
  const names = new Set<string>();
  const rest: unknown[] = [root];
  // Without recursion: a chain of properties is as deep as it is long.
  while (rest.length > 0) {
    const node = rest.pop();
    if (!isNode(node) || namesSteps(node["params"])) continue;
    const name = stepRead(node);
    if (name !== undefined) names.add(name);
    for (const child of Object.values(node)) rest.push(...(Array.isArray(child) ? child : [child]));
  }
  return [...names].toReversed();
}

type Fields = Readonly<Record<string, unknown>>;

function stepRead({ type, object, property, computed }: Fields): string | undefined {
  if (type !== "MemberExpression" || !isSteps(object) || !isNode(property)) return undefined;
  if (computed !== true) return property["type"] === "Identifier" ? String(property["name"]) : undefined;
  return property["type"] === "Literal" && typeof property["value"] === "string" ? property["value"] : undefined;
}

/** A function with a parameter of that name means its own. */
const namesSteps = (params: unknown): boolean => Array.isArray(params) && params.some(isSteps);
const isSteps = (node: unknown): boolean => isNode(node) && node["type"] === "Identifier" && node["name"] === "steps";
const isNode = (value: unknown): value is Fields => typeof value === "object" && value !== null && !(value instanceof RegExp);

const shown = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);
