import type { Arguments } from "../../../client/client.ts";
import type { WorkflowStep } from "../../../client/generated/operations.ts";

/** A step while it is edited: its texts may be invalid. */
export interface StepDraft {
  /** Identifies the row of the editor. */
  readonly row: string;
  readonly id: string | undefined;
  readonly name: string;
  readonly componentId: string | undefined;
  readonly componentKey: string;
  /** Undefined: unchanged since it was deployed. */
  readonly code: string | undefined;
  /** JSON. */
  readonly props: string;
  readonly retries: string;
  readonly timeoutMs: string;
  readonly continuesOnError: boolean;
  /** JSON of the fields of a step that holds others; undefined: it runs an action. */
  readonly control: string | undefined;
}

export type StepInput = NonNullable<NonNullable<NonNullable<Arguments<"updateWorkflow">["body"]>["steps"]>[number]>;

let rows = 0;
const newRow = (): string => `row ${rows++}`;

export const draftOf = (step: WorkflowStep): StepDraft => ({
  row: newRow(),
  id: step.id,
  name: step.name,
  componentId: step.component_id ?? undefined,
  componentKey: step.component_key ?? "",
  code: undefined,
  props: Object.keys(step.props).length === 0 ? "" : JSON.stringify(step.props, null, 2),
  retries: String(step.retries),
  timeoutMs: step.timeout_ms === null ? "" : String(step.timeout_ms),
  continuesOnError: step.continue_on_error,
  control: controlText(step),
});

/** Fields of control flow, in the order in which they are shown. */
const controlFields =
  "if then else_if else switch cases default for_each as max_items on_error concurrency parallel while max_iterations steps try catch finally stop workflow event wait".split(
    " ",
  );

function controlText(step: WorkflowStep): string | undefined {
  const given = new Map(Object.entries(step));
  const control = controlFields.flatMap((name) => (given.has(name) ? [[name, withoutAnswers(given.get(name))] as const] : []));
  return control.length === 0 ? undefined : JSON.stringify(Object.fromEntries(control), null, 2);
}

/** What only answers have, or what is said by its absence: the steps within a step are edited as JSON. */
const omitted: ReadonlyMap<string, string> = new Map([
  ["continue_on_error", "false"],
  ["retries", "0"],
  ["timeout_ms", "null"],
  ["component_id", "null"],
  ["props", "{}"],
]);

function withoutAnswers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAnswers);
  if (typeof value !== "object" || value === null) return value;
  const isStep = "configurable_props" in value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, each]) => !isStep || (!["id", "configurable_props"].includes(name) && omitted.get(name) !== JSON.stringify(each)))
      .map(([name, each]) => [name, name === "props" ? each : withoutAnswers(each)]),
  );
}

/** Rows only identify the steps of an editor. */
export const haveSameSteps = (one: readonly StepDraft[], other: readonly StepDraft[]): boolean =>
  JSON.stringify(one.map((step) => ({ ...step, row: "" }))) === JSON.stringify(other.map((step) => ({ ...step, row: "" })));

export const emptyDraft = (number: number, code: string): StepDraft => ({
  row: newRow(),
  id: undefined,
  name: `step_${number}`,
  componentId: undefined,
  componentKey: "",
  code,
  props: "",
  retries: "0",
  timeoutMs: "",
  continuesOnError: false,
  control: undefined,
});

/** A new step that runs an action of the registry or a saved one. */
export const actionDraft = (number: number, action: { readonly key: string } | { readonly id: string }): StepDraft => ({
  ...emptyDraft(number, ""),
  code: undefined,
  ...("key" in action ? { componentKey: action.key } : { componentId: action.id }),
});

/** The props of a draft; undefined if they are not a JSON object. */
export const propsOf = ({ props }: StepDraft): Readonly<Record<string, unknown>> | undefined =>
  props.trim() === "" ? {} : objectOf(props);

/** The fields of a step that holds others; undefined if they are not a JSON object. */
export const controlOf = ({ control }: StepDraft): Readonly<Record<string, unknown>> | undefined => objectOf(control ?? "");

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The steps as the API takes them; undefined while the props of one are invalid. */
export function stepInputs(drafts: readonly StepDraft[]): readonly StepInput[] | undefined {
  const inputs = drafts.flatMap((draft): readonly StepInput[] => {
    const { id, name, code, componentId, componentKey, retries, timeoutMs, continuesOnError } = draft;
    const [props, control] = [propsOf(draft), controlOf(draft)];
    if (draft.control !== undefined)
      return control === undefined ? [] : [{ ...control, name, retries: Number(retries), continue_on_error: continuesOnError }];
    if (props === undefined) return [];
    return [
      {
        name,
        props,
        retries: Number(retries),
        timeout_ms: timeoutMs === "" ? null : Number(timeoutMs),
        continue_on_error: continuesOnError,
        ...(id === undefined ? {} : { id }),
        ...(componentKey !== ""
          ? { component_key: componentKey }
          : code === undefined
            ? { component_id: componentId }
            : { component_code: code }),
      },
    ];
  });
  return inputs.length === drafts.length ? inputs : undefined;
}

/** Moves a row by one place. */
export function moved<Item>(items: readonly Item[], index: number, by: 1 | -1): readonly Item[] {
  const target = index + by;
  const [item, other] = [items[index], items[target]];
  if (item === undefined || other === undefined) return items;
  return items.with(index, other).with(target, item);
}
