import { type Fields, isObject } from "../component/component.ts";
import { completeEvent } from "../component/http-event.ts";
import { alreadyResponded, postHead, postResponse, toStatus } from "../component/http-interface.ts";
import { chunksOf, sendBody } from "../component/streamed-body.ts";
import { post } from "../runtime/bridge.ts";
import { ruleError, ruleTypeError } from "../runtime/errors.ts";
import { type IsRunning, stillRunning } from "../runtime/still-running.ts";
import { inspect } from "../node/inspect/inspect.ts";
import type { ActionInputs } from "./action-inputs.ts";
import type { FileStore, OpenFiles } from "./files.ts";
import { type FlowHelper, flowHelper } from "./flow.ts";
import { type SendHelper, sendHelper } from "./send.ts";

/** `$` of an action. */
export interface ActionHelper {
  /** The value becomes JSON at the call; undefined removes the export. */
  export(name: unknown, value: unknown): void;
  respond(response: unknown): Promise<void>;
  readonly flow: FlowHelper;
  readonly send: SendHelper;
  readonly context: unknown;
  readonly files: FileStore;
}

const maxExports = 1_000;
/** Characters. */
const maxName = 1024;
const maxExport = 4 * 1024 * 1024;
const maxSummary = 4096;
const maxShown = 100;
/** Names of what the run itself exports. */
const reserved: ReadonlySet<string> = new Set(["$return_value", "$error", "$resume_data"]);
const { parse, stringify } = JSON;
const { defineProperty } = Object;

/** @param files opened with the first use */
export function actionHelper(inputs: ActionInputs, files: () => OpenFiles): ActionHelper {
  const isRunning = stillRunning();
  const helper = {
    export: exporter(isRunning),
    respond: responder(isRunning),
    flow: flowHelper(inputs, isRunning),
    send: sendHelper(isRunning),
    context: contextOf(inputs),
  };
  // Not enumerable: a copy of `$` must not open the files.
  return defineProperty(helper, "files", { get: () => files().store, configurable: true }) as ActionHelper;
}

function contextOf(inputs: ActionInputs): Fields {
  const context = parse(inputs.context) as Fields;
  if (isObject(context["run"])) completeEvent(context["run"]["callback_request"]);
  return context;
}

function exporter(isRunning: IsRunning): ActionHelper["export"] {
  const names = new Set<string>();
  return (given, value) => {
    const name = checkedName(given);
    const text = name === "$summary" ? summaryText(value) : jsonText(name, value);
    if (!isRunning(`$.export("${name.slice(0, maxShown)}")`)) return;
    names.add(name);
    if (names.size > maxExports) throw ruleError("export_limit", `a step may have ${maxExports} exports`);
    post("export", name, text);
  };
}

function checkedName(name: unknown): string {
  if (typeof name !== "string" || name === "")
    throw ruleTypeError("invalid_export", `the name given to $.export() must be a text, got ${inspect(name).slice(0, maxShown)}`);
  if (name.length > maxName)
    throw ruleTypeError("invalid_export", `the name given to $.export() has ${name.length} characters; the limit is ${maxName}`);
  if (reserved.has(name))
    throw ruleTypeError("invalid_export", `the export '${name}' is the system's: choose another name, or return the value of the step`);
  return name;
}

function summaryText(summary: unknown): string | null {
  if (summary === undefined || summary === null) return null;
  if (typeof summary !== "string")
    throw ruleTypeError("invalid_export", `the export '$summary' must be a text, got ${inspect(summary).slice(0, maxShown)}`);
  return stringify(summary.length > maxSummary ? `${summary.slice(0, maxSummary)}…` : summary);
}

function jsonText(name: string, value: unknown): string | null {
  if (value === undefined) return null;
  const which = `the export '${name.slice(0, maxShown)}'`;
  let text: string | undefined;
  try {
    text = stringify(value) as string | undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw ruleTypeError("export_not_json", `${which} cannot be made JSON: ${why}`);
  }
  if (text === undefined) throw ruleTypeError("export_not_json", `${which} is a ${typeof value}, which JSON cannot hold`);
  if (text.length <= maxExport) return text;
  throw ruleError("export_too_large", `${which} has ${text.length} characters of JSON; the limit is ${maxExport}`);
}

/** Without `immediate` the last response counts; it is sent when the run of the workflow ends or is suspended. A stream is sent at once. */
function responder(isRunning: IsRunning): ActionHelper["respond"] {
  let answered = false;
  return async (response) => {
    const given = isObject(response) ? response : {};
    const status = toStatus(given["status"]);
    if (answered) throw alreadyResponded();
    if (!isRunning("$.respond()")) return;
    const chunks = chunksOf(given["body"]);
    const isImmediate = chunks !== undefined || Boolean(given["immediate"]);
    if (chunks === undefined) postResponse(status, given, isImmediate);
    else postHead(status, given);
    answered = isImmediate;
    if (chunks !== undefined) await sendBody(chunks, isRunning);
  };
}
