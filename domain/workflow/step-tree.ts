import { controlLimits, type Control, type ControlKind, type Part } from "./control.ts";
import { wholeExpression } from "./expressions.ts";
import { controlFieldOf, listOf, listsOf, type StepNode } from "./step-control.ts";

/** A step of the flat list that runners execute, see control.ts. */
export interface FlatStep<Node> {
  readonly node: Node;
  /** In the tree: `steps[0].then[1]`. */
  readonly path: string;
  /** Absent: it is an action. */
  readonly control?: Control;
  /** Of one that controls others: what its action returns, with expressions; absent: nothing. */
  readonly value?: unknown;
  /** The values with expressions that `value` is made of, by field: `elseIf[0].if`. */
  readonly expressions?: Readonly<Record<string, unknown>>;
  /** Names that its expressions may read: those of the steps before it in the list, and of the loops around it. */
  readonly readable: readonly string[];
  /** Those among them that may not have run: they are in a part of a step before it. */
  readonly uncertain: ReadonlySet<string>;
}

/** Whether a tree has more steps or levels than a workflow may have. Does no more work than that many steps take. */
export function exceedsLimits<Node extends StepNode<Node>>(steps: readonly Node[]): boolean {
  let left: number = controlLimits.steps;
  const isWithin = (nodes: readonly Node[], levels: number): boolean =>
    listOf(nodes).every((node) => {
      left -= 1;
      if (left < 0 || levels < 0) return false;
      return (shapeOf(node)?.parts ?? []).every((part) => isWithin(part.steps, levels - 1));
    });
  return !isWithin(steps, controlLimits.depth);
}

/** The name of the step that each step within another one belongs to, by its own. */
export function namesAround<Node extends StepNode<Node>>(steps: readonly Node[]): ReadonlyMap<string, string> {
  const flat = flatten(steps);
  // Inner ones are later, and replace what the outer ones have set.
  return new Map(
    flat.flatMap(({ node, control }) =>
      (control?.parts ?? []).flatMap(({ from, to }) => flat.slice(from, to).map((inner) => [inner.node.name, node.name] as const)),
    ),
  );
}

/** All steps of the tree, each before those within it; none of a tree over the limits, see {@link exceedsLimits}. */
export function flatten<Node extends StepNode<Node>>(steps: readonly Node[]): readonly FlatStep<Node>[] {
  if (exceedsLimits(steps)) return [];
  const flat: FlatStep<Node>[] = [];
  const add = (nodes: readonly Node[], path: string, { certain, loops, hidden }: Around): readonly string[] => {
    let known = certain;
    for (const [index, node] of listOf(nodes).entries()) {
      const before = flat.map((each) => each.node.name).filter((name) => !hidden.has(name));
      const at = flat.length;
      const placed = {
        node,
        path: `${path}[${index}]`,
        readable: [...before, ...loops],
        uncertain: new Set(before.filter((name) => !known.includes(name))),
      };
      known = [...known, node.name];
      const shape = shapeOf(node);
      flat.push(placed);
      if (shape === undefined) continue;
      const parts: Part[] = [];
      const isParallel = shape.kind === "parallel";
      const inner = shape.as === undefined ? loops : [...loops, shape.as];
      const ends: string[] = [];
      for (const part of shape.parts) {
        const from = flat.length;
        // Branches do not read one another.
        const beside = isParallel ? flat.slice(at + 1).map((each) => each.node.name) : [];
        const around = { certain: known, loops: inner, hidden: new Set([...hidden, ...beside]) };
        ends.push(...add(part.steps, `${placed.path}.${part.path}`, around));
        parts.push({ name: part.name, from, to: flat.length });
      }
      // All of them have ended.
      if (isParallel) known = [...new Set([...known, ...ends])];
      const { kind, as, max, sideBySide, continues, workflow, waits, value, expressions } = shape;
      const control: Control = {
        kind,
        parts,
        end: flat.length,
        ...(as === undefined ? {} : { as }),
        ...(max === undefined ? {} : { max }),
        ...(sideBySide === undefined ? {} : { sideBySide }),
        ...(continues ? { continues } : {}),
        ...(workflow === undefined ? {} : { workflow }),
        ...(waits ? { waits } : {}),
      };
      flat[at] = {
        ...placed,
        ...(kind === "repeat" ? readableIn(placed, flat) : {}),
        control,
        expressions,
        ...(value === undefined ? {} : { value }),
      };
    }
    return known;
  };
  add(steps, "steps", { certain: [], loops: [], hidden: new Set() });
  return flat;
}

/** A condition that is evaluated again reads what the round before it has left, and how many there were. */
function readableIn<Node extends StepNode<Node>>(
  { node, readable, uncertain }: FlatStep<Node>,
  flat: readonly FlatStep<Node>[],
): Pick<FlatStep<Node>, "readable" | "uncertain"> {
  const within = flat.slice(flat.findIndex((each) => each.node === node)).map((each) => each.node.name);
  return { readable: [...readable, ...within], uncertain: new Set([...uncertain, ...within]) };
}

/** What steps in a part of the tree know of those around them. */
interface Around {
  /** Names of steps that have run. */
  readonly certain: readonly string[];
  /** Names of the items of the loops around them. */
  readonly loops: readonly string[];
  /** Names of steps that run side by side with them. */
  readonly hidden: ReadonlySet<string>;
}

interface Shape<Node> {
  readonly kind: ControlKind;
  readonly parts: readonly { readonly name: string; readonly path: string; readonly steps: readonly Node[] }[];
  readonly value?: unknown;
  readonly expressions: Readonly<Record<string, unknown>>;
  readonly as?: string;
  readonly max?: number;
  readonly sideBySide?: number | undefined;
  readonly continues?: true | undefined;
  readonly workflow?: string | undefined;
  readonly waits?: true | undefined;
}

function shapeOf<Node>(node: StepNode<Node>): Shape<Node> | undefined {
  switch (controlFieldOf(node)) {
    case "if":
      return choiceOfIf(node);
    case "switch":
      return choiceOfSwitch(node);
    case "forEach":
      return {
        kind: "each",
        parts: [{ name: "item", path: "steps", steps: node.steps ?? [] }],
        value: node.forEach,
        expressions: textsOf({ forEach: node.forEach }),
        as: node.as ?? defaultItemName,
        max: node.maxItems ?? controlLimits.defaultItems,
        sideBySide: (node.concurrency ?? 1) > 1 ? node.concurrency : undefined,
        continues: node.onError === "continue" ? true : undefined,
      };
    case "parallel":
      return {
        kind: "parallel",
        parts: listsOf(node.parallel).map((steps, index) => ({ name: `branch_${index + 1}`, path: `parallel[${index}]`, steps })),
        expressions: {},
        sideBySide: controlLimits.sideBySide,
      };
    case "while":
      return {
        kind: "repeat",
        parts: [{ name: "round", path: "steps", steps: node.steps ?? [] }],
        value: expressionOf(`Boolean(${sourceOf(node.while)})`),
        expressions: textsOf({ while: node.while }),
        max: node.maxIterations ?? controlLimits.defaultItems,
      };
    case "try": {
      const handlers = (["catch", "finally"] as const).flatMap((name) => {
        const steps = node[name];
        return steps === undefined ? [] : [{ name, path: name, steps }];
      });
      return { kind: "try", parts: [{ name: "body", path: "try", steps: node.try ?? [] }, ...handlers], expressions: {} };
    }
    case "stop":
      return { kind: "stop", parts: [], value: node.stop, expressions: textsOf({ stop: node.stop }) };
    case "workflow": {
      const { workflow, event = {}, wait = true } = node;
      return { kind: "call", parts: [], value: event, expressions: { event }, workflow, waits: wait ? true : undefined };
    }
    case undefined:
      return undefined;
  }
}

/** Name of the item of a `for_each` without `as`. */
export const defaultItemName = "item";

/** Fields of a stored resource may have other types. */
const textsOf = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => typeof field[1] === "string"));

function choiceOfIf<Node>({ if: first = "", then = [], elseIf, else: last }: StepNode<Node>): Shape<Node> {
  const tests = [{ if: first, then, name: "then", path: "then" }].concat(
    listOf(elseIf).map((each, index) => ({ ...each, name: `else_if_${index + 1}`, path: `elseIf[${index}].then` })),
  );
  const conditions = tests.map((test, index) => `(${sourceOf(test.if)}) ? ${index} : `);
  return {
    kind: "choice",
    parts: [
      ...tests.map(({ name, path, then: steps }) => ({ name, path, steps })),
      ...(last === undefined ? [] : [{ name: "else", path: "else", steps: last }]),
    ],
    value: expressionOf(`${conditions.join("")}${last === undefined ? noPart : tests.length}`),
    expressions: textsOf({ if: first, ...Object.fromEntries(listOf(elseIf).map((each, index) => [`elseIf[${index}].if`, each.if])) }),
  };
}

function choiceOfSwitch<Node>({ switch: value, cases: given, default: last }: StepNode<Node>): Shape<Node> {
  const cases = listOf(given);
  const conditions = cases.map(({ equals, when }, index) => {
    const test = when === undefined ? comparison(equals) : sourceOf(when);
    return `(${test}) ? ${index} : `;
  });
  const decision = `${conditions.join("")}${last === undefined ? noPart : cases.length}`;
  return {
    kind: "choice",
    parts: [
      ...cases.map(({ steps }, index) => ({ name: `case_${index + 1}`, path: `cases[${index}].steps`, steps })),
      ...(last === undefined ? [] : [{ name: "default", path: "default", steps: last }]),
    ],
    value: expressionOf(`((__value) => ${decision})(${sourceOf(value)})`),
    expressions: textsOf({
      switch: value,
      ...Object.fromEntries(
        cases.flatMap(({ equals, when }, index) => [
          [`cases[${index}].equals`, equals],
          [`cases[${index}].when`, when],
        ]),
      ),
    }),
  };
}

const noPart = -1;

/** Objects and lists are equal if their JSON is. */
function comparison(equals: unknown): string {
  const text = typeof equals === "string" ? wholeExpression(equals) : undefined;
  if (text !== undefined) return `JSON.stringify(__value) === JSON.stringify((${text}\n))`;
  return typeof equals === "object" && equals !== null
    ? `JSON.stringify(__value) === ${JSON.stringify(JSON.stringify(equals))}`
    : `__value === ${JSON.stringify(equals ?? null)}`;
}

/** A line comment at the end of a source must not hide what follows it. Of a text that is no expression: a mistake that is reported elsewhere. */
const sourceOf = (text: unknown = ""): string =>
  `(${(typeof text === "string" ? wholeExpression(text) : undefined) ?? JSON.stringify(text)}\n)`;
const expressionOf = (source: string): string => `{{ ${source} }}`;
