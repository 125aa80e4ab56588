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
  /** Of `forEach`: how many items are under way at a time; absent: 1. */
  readonly concurrency?: number | undefined;
  readonly parallel?: readonly (readonly Node[])[] | undefined;
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
  const {
    then,
    elseIf,
    else: otherwise,
    cases,
    default: byDefault,
    steps,
    parallel,
    try: body,
    catch: caught,
    finally: last,
    ...rest
  } = control;
  const lists = { then, else: otherwise, default: byDefault, steps, try: body, catch: caught, finally: last };
  return {
    ...rest,
    ...Object.fromEntries(Object.entries(lists).flatMap(([name, list]) => (list === undefined ? [] : [[name, convert(listOf(list))]]))),
    ...(elseIf === undefined ? {} : { elseIf: listOf(elseIf).map((each) => ({ ...each, then: convert(listOf(each.then)) })) }),
    ...(parallel === undefined ? {} : { parallel: listsOf(parallel).map(convert) }),
    ...(cases === undefined ? {} : { cases: listOf(cases).map((each) => ({ ...each, steps: convert(listOf(each.steps)) })) }),
  };
}

/** Fields that say what a step controls; a step has at most one of them. */
export const controlFields = ["if", "switch", "forEach", "parallel", "while", "try", "stop", "workflow"] as const;
export type ControlField = (typeof controlFields)[number];

export const controlFieldOf = (node: StepControl): ControlField | undefined => controlFields.find((field) => node[field] !== undefined);

/** What is in a list of a stored resource, which may not match its schema. */
export const listOf = <Node>(list: readonly Node[] | undefined): readonly Node[] =>
  Array.isArray(list) ? (list as readonly Node[]).filter((each) => typeof each === "object" && each !== null) : [];

/** The lists of steps of a `parallel`. */
export const listsOf = <Node>(lists: readonly (readonly Node[])[] | undefined): readonly (readonly Node[])[] =>
  Array.isArray(lists) ? (lists as readonly (readonly Node[])[]).map(listOf) : [];
