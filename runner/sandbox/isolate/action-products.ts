import type { RunError } from "../../../domain/run-products.ts";
import { maxTimestampMs } from "../../../domain/clock.ts";
import { maxSuspensionMs } from "../../../domain/workflow/resume-request.ts";
import { type SendKind, sendKinds } from "../../../domain/workflow/run-state.ts";
import { parseSendArgument } from "../../../domain/workflow/send-arguments.ts";
import { limits } from "../limits.ts";
import type { ActionProducts, ActionSend, FlowRequest } from "../port.ts";
import type { FileChanges } from "../../../domain/files/run-files.ts";
import { parseFileChanges } from "./file-changes.ts";
import { isJson, isTooDeep, maxNesting } from "../message-size.ts";
import { forged, limitError } from "./run-error.ts";

/** Names of what the run itself exports. */
const reserved: ReadonlySet<string> = new Set(["$return_value", "$error", "$resume_data"]);

/** Accounts for texts as they are stored, in bytes; the error if the run leaves more than it may. */
type Charge = (texts: readonly string[]) => RunError | undefined;

/** What an action leaves besides the products of every run. Each `add` takes hostile arguments, as in `ProductCollector`. */
export class ActionCollector {
  readonly #exports: Record<string, string> = Object.create(null) as Record<string, string>;
  #exportCount = 0;
  #flow: FlowRequest | null = null;
  readonly #sends: ActionSend[] = [];
  #emails = 0;
  #inputs: string | null = null;
  #files: FileChanges | undefined;
  readonly #charge: Charge;

  constructor(charge: Charge) {
    this.#charge = charge;
  }

  addExport([name, text]: readonly unknown[]): RunError | undefined {
    if (typeof name !== "string" || name === "" || name.length > limits.nameCharacters || reserved.has(name)) return forged("export");
    if (text === null) {
      delete this.#exports[name];
      return undefined;
    }
    if (typeof text !== "string" || text.length > limits.actionResultCharacters) return forged("export");
    this.#exportCount += 1;
    // An export may be replaced: what it was is not given back, so that a loop of exports ends.
    if (this.#exportCount > limits.exports) return limitError("export_limit", `a step may export ${limits.exports} values`);
    if (isTooDeep(text)) return limitError("export_too_large", `an export is nested more than ${maxNesting} levels deep, the limit`);
    if (!isJson(text)) return forged("export");
    const error = this.#charge([name, text]);
    if (error !== undefined) return error;
    this.#exports[name] = text;
    return undefined;
  }

  addFlow([kind, ...args]: readonly unknown[]): RunError | undefined {
    const flow = parseFlow(kind, args);
    if (flow === undefined) return forged("flow");
    this.#flow = flow;
    return undefined;
  }

  addSend([kind, argument, at]: readonly unknown[]): RunError | undefined {
    if (!isSendKind(kind) || typeof argument !== "string" || argument.length > limits.sendCharacters) return forged("send");
    if (this.#sends.length >= limits.sends) return limitError("send_limit", `a step may call $.send ${limits.sends} times`);
    if (kind === "email" && ++this.#emails > limits.emails)
      return limitError("send_limit", `a step may call $.send.email ${limits.emails} times`);
    if (isTooDeep(argument))
      return limitError("send_too_large", `an argument of $.send.${kind}() is nested more than ${maxNesting} levels deep, the limit`);
    if (parseSendArgument(kind, argument) === undefined) return forged("send");
    const error = this.#charge([argument]);
    if (error !== undefined) return error;
    this.#sends.push({ kind, argument, at: isTime(at) ? at : Date.now() });
    return undefined;
  }

  addInputs([text]: readonly unknown[]): RunError | undefined {
    if (text === null) return undefined;
    if (typeof text !== "string" || text.length > limits.resultCharacters || this.#inputs !== null) return forged("inputs");
    // Hostile code cannot be the reason: a value that deep is not shown.
    if (!isJson(text)) return undefined;
    this.#inputs = text;
    return this.#charge([text]);
  }

  /** Once, when the action has returned. */
  addFiles([text]: readonly unknown[]): RunError | undefined {
    const changes = this.#files === undefined ? parseFileChanges(text) : undefined;
    if (changes === undefined) return forged("files");
    this.#files = changes;
    return undefined;
  }

  /** The value that `run` returned, JSON text or null. Undefined if it is neither, or too large. */
  addResult(text: unknown): RunError | undefined {
    if (text === null) return undefined;
    if (typeof text !== "string" || text.length > limits.actionResultCharacters) return forged("done");
    if (isTooDeep(text))
      return limitError("result_too_large", `the value that run returned is nested more than ${maxNesting} levels deep, the limit`);
    return isJson(text) ? this.#charge([text]) : forged("done");
  }

  /** @param hasReturned what an action that failed wanted to send is not sent */
  products(hasReturned: boolean): ActionProducts {
    return {
      exports: this.#exports,
      flow: this.#flow,
      sends: hasReturned ? this.#sends : [],
      inputs: this.#inputs,
      ...(hasReturned && this.#files !== undefined && { files: this.#files }),
    };
  }
}

function parseFlow(kind: unknown, [first, second, third]: readonly unknown[]): FlowRequest | undefined {
  switch (kind) {
    case "exit":
      return isText(first, limits.summaryCharacters + 1) || first === null ? { kind, reason: first } : undefined;
    case "delay":
      return isDuration(first) ? { kind, ms: first } : undefined;
    case "suspend":
      return isDuration(first) || first === null ? { kind, ms: first } : undefined;
    case "rerun":
      if (!isDuration(first) || !(third === null || isCount(third))) return undefined;
      if (second !== null && !(isText(second, limits.resultCharacters) && isJson(second))) return undefined;
      return { kind, ms: first, context: second, maxRetries: third };
    default:
      return undefined;
  }
}

const isText = (value: unknown, limit: number): value is string => typeof value === "string" && value.length <= limit;
const isDuration = (value: unknown): value is number => typeof value === "number" && value >= 0 && value <= maxSuspensionMs;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime = (value: unknown): value is number => typeof value === "number" && Math.abs(value) <= maxTimestampMs;
const isSendKind = (value: unknown): value is SendKind => (sendKinds as readonly unknown[]).includes(value);
