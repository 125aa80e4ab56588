import { controlLimits, type Control, type ControlKind, type Part } from "./control.ts";
import { wholeExpression } from "./expressions.ts";

/** What a step in the tree of a workflow's steps controls; without any of it, it is an action. */
export interface StepControl<Node = unknown> {
  readonly if?: string | undefined;
  readonly then?: readonly Node[] | undefined;
  readonly elseIf?: readonly { readonly if: string; readonly then: readonly Node[] }[] | undefined;
  readonly else?: readonly Node[] | undefined;
  readonly switch?: string | undefined;
  readonly cases?: readonly SwitchCase<Node>[] | undefined;
  readonly default?: readonly Node[] | undefined;
  readonly forEach?: string | undefined;
  readonly as?: string | undefined;
  readonly maxItems?: number | undefined;
  readonly onError?: "stop" | "continue" | undefined;
  readonly while?: string | undefined;
  readonly maxIterations?: number | undefined;
  /** Of `forEach` and `while`. */
  readonly steps?: readonly Node[] | undefined;
  readonly try?: readonly Node[] | undefined;
  readonly catch?: readonly Node[] | undefined;
  readonly finally?: readonly Node[] | undefined;
  /** Reason. */
  readonly stop?: string | undefined;
  /** Id of another workflow of the owner, `p_…`; in a resource also the name of one in its namespace. */
  readonly workflow?: string | undefined;
  /** Of `workflow`: its event, a JSON value whose texts may contain expressions. */
  readonly event?: unknown;
  /** Of `workflow`: whether the run waits for its end. */
  readonly wait?: boolean | undefined;
}

export interface StepNode<Node = unknown> extends StepControl<Node> {
  readonly name: string;
}

export interface SwitchCase<Node = unknown> {
  readonly equals?: unknown;
  readonly when?: string | undefined;
  readonly steps: readonly Node[];
}

/** The same control with other steps within it. */
export function withSteps<From, To>(control: StepControl<From>, convert: (steps: readonly From[]) => readonly To[]): StepControl<To> {
  const { then, elseIf, else: otherwise, cases, default: byDefault, steps, try: body, catch: caught, finally: last, ...rest } = control;
  const lists = { then, else: otherwise, default: byDefault, steps, try: body, catch: caught, finally: last };
  return {
    ...rest,
    ...Object.fromEntries(Object.entries(lists).flatMap(([name, list]) => (list === undefined ? [] : [[name, convert(listOf(list))]]))),
    ...(elseIf === undefined ? {} : { elseIf: listOf(elseIf).map((each) => ({ ...each, then: convert(listOf(each.then)) })) }),
    ...(cases === undefined ? {} : { cases: listOf(cases).map((each) => ({ ...each, steps: convert(listOf(each.steps)) })) }),
  };
}

/** Fields that say what a step controls; a step has at most one of them. */
export const controlFields = ["if", "switch", "forEach", "while", "try", "stop", "workflow"] as const;
export type ControlField = (typeof controlFields)[number];

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

export const controlFieldOf = (node: StepControl): ControlField | undefined => controlFields.find((field) => node[field] !== undefined);

/** What is in a list of a stored resource, which may not match its schema. */
export const listOf = <Node>(list: readonly Node[] | undefined): readonly Node[] =>
  Array.isArray(list) ? (list as readonly Node[]).filter((each) => typeof each === "object" && each !== null) : [];

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

/** All steps of the tree, each before those within it; none of a tree over the limits, see {@link exceedsLimits}. */
export function flatten<Node extends StepNode<Node>>(steps: readonly Node[]): readonly FlatStep<Node>[] {
  if (exceedsLimits(steps)) return [];
  const flat: FlatStep<Node>[] = [];
  const add = (nodes: readonly Node[], path: string, certain: readonly string[], loops: readonly string[]): void => {
    let known = certain;
    for (const [index, node] of listOf(nodes).entries()) {
      const before = flat.map((each) => each.node.name);
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
      for (const part of shape.parts) {
        const from = flat.length;
        add(part.steps, `${placed.path}.${part.path}`, known, shape.as === undefined ? loops : [...loops, shape.as]);
        parts.push({ name: part.name, from, to: flat.length });
      }
      const { kind, as, max, continues, workflow, waits, value, expressions } = shape;
      const control: Control = {
        kind,
        parts,
        end: flat.length,
        ...(as === undefined ? {} : { as }),
        ...(max === undefined ? {} : { max }),
        ...(continues ? { continues } : {}),
        ...(workflow === undefined ? {} : { workflow }),
        ...(waits ? { waits } : {}),
      };
      flat[at] = { ...placed, control, expressions, ...(value === undefined ? {} : { value }) };
    }
  };
  add(steps, "steps", [], []);
  return flat;
}

interface Shape<Node> {
  readonly kind: ControlKind;
  readonly parts: readonly { readonly name: string; readonly path: string; readonly steps: readonly Node[] }[];
  readonly value?: unknown;
  readonly expressions: Readonly<Record<string, unknown>>;
  readonly as?: string;
  readonly max?: number;
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
        continues: node.onError === "continue" ? true : undefined,
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

/** The source text of the action that steps which control others run: it returns what its expression gives. */
export const controlCode = `export default {
  type: "action",
  name: "Control",
  version: "1.0.0",
  props: { value: { type: "any", optional: true } },
  run() {
    return this.value;
  },
};
`;
