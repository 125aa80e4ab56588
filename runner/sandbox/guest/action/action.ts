import type { Fields } from "../component/component.ts";
import { completeEvent } from "../component/http-event.ts";
import { ruleError } from "../runtime/errors.ts";
import type { OpenFile } from "../component/bind.ts";
import type { ActionInputs } from "./action-inputs.ts";
import { openFileProp } from "./file-prop.ts";
import { openFiles, type OpenFiles } from "./files.ts";
import { type ActionHelper, actionHelper } from "./helper.ts";
import { evaluateProps } from "./expressions.ts";

/** Of a source, which has no files of a run. */
export const openUrl: OpenFile = (prop, value) => openFileProp(prop, value, undefined);

export interface PreparedAction {
  /** Values by name, expressions evaluated. */
  readonly props: Fields;
  readonly openFile: OpenFile;
  /** Argument of `run`. */
  readonly argument: { readonly steps: Fields; readonly $: ActionHelper };
}

/** Characters of JSON. */
const maxResult = 4 * 1024 * 1024;
const { parse, stringify } = JSON;

/** @param hasExpressions whether a text in the props contains `{{` */
export function prepareAction(definition: Fields, given: Fields, inputs: ActionInputs, hasExpressions: boolean): PreparedAction {
  const steps = parse(inputs.steps) as Record<string, Fields>;
  const { trigger } = steps;
  if (trigger !== undefined) trigger["event"] = completeEvent(trigger["event"]);
  // Requests that resumed the run are HTTP events too.
  for (const exports of Object.values(steps)) if ("$resume_data" in exports) completeEvent(exports["$resume_data"]);
  const props = hasExpressions
    ? evaluateProps(definition, given, { steps, variables: parse(inputs.variables) as Fields }, inputs.secretProps)
    : given;
  let opened: OpenFiles | undefined;
  const files = (): OpenFiles => (opened ??= openFiles(inputs.filesUrl));
  const openFile: OpenFile = (prop, value) => openFileProp(prop, value, files);
  return { props, openFile, argument: { steps, $: actionHelper(inputs, files) } };
}

/** JSON text of the value that `run` returned; null if it returned nothing. A later step may need it, so it is never dropped. */
export function actionResult(value: unknown): string | null {
  if (value === undefined) return null;
  let text: string | undefined;
  try {
    text = stringify(value) as string | undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw ruleError("result_not_json", `the value that run returned cannot be made JSON: ${why}`);
  }
  if (text === undefined) throw ruleError("result_not_json", `run returned a ${typeof value}, which JSON cannot hold`);
  if (text.length <= maxResult) return text;
  throw ruleError(
    "result_too_large",
    `the value that run returned has ${text.length} characters of JSON; the limit is ${maxResult}: return less, or store it and return where`,
  );
}
