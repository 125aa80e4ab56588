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
});

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
});

/** The props of a draft; undefined if they are not a JSON object. */
export function propsOf({ props }: StepDraft): Readonly<Record<string, unknown>> | undefined {
  if (props.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(props);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The steps as the API takes them; undefined while the props of one are invalid. */
export function stepInputs(drafts: readonly StepDraft[]): readonly StepInput[] | undefined {
  const inputs = drafts.flatMap((draft): readonly StepInput[] => {
    const props = propsOf(draft);
    if (props === undefined) return [];
    const { id, name, code, componentId, componentKey, retries, timeoutMs, continuesOnError } = draft;
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
