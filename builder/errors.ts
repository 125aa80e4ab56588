import { defaultEntry } from "../domain/component/component-code.ts";
import type { ErrorCode } from "../domain/error-codes.ts";
import { InvalidInput } from "../domain/errors.ts";
import { codeFrame, type Place } from "./scan/code-frame.ts";
import type { Modules } from "./scan/modules.ts";

/** `details` of every 422 of the builder: the position in the code and the cause, as far as they are known. */
export interface BuildErrorDetails {
  /** Path of the module; absent for one that has none of its own. */
  readonly file?: string;
  /** Counted from 1, in that module. */
  readonly line?: number;
  readonly column?: number;
  readonly package?: string;
  /** Of the package, as it was installed. */
  readonly version?: string;
  readonly prop?: string;
  /** Some lines of the code, or the stack. */
  readonly text?: string;
}

/** Error for a component; its message begins with the position, if there is one. */
export function refuse(code: ErrorCode, message: string, details: BuildErrorDetails = {}, cause?: unknown): InvalidInput {
  const where = details.line === undefined ? "" : `${details.file ?? defaultEntry}:${details.line}:${details.column ?? 1}: `;
  return new InvalidInput(where + message, { code, details, ...(cause === undefined ? {} : { cause }) });
}

/** Error for a position in a component's code. */
export function refuseAt(
  errorCode: ErrorCode,
  message: string,
  { texts }: Pick<Modules, "texts">,
  place: Place,
  details: BuildErrorDetails = {},
): InvalidInput {
  return refuse(errorCode, message, { ...placeDetails(place), text: codeFrame(texts.get(place.file) ?? "", place), ...details });
}

export function placeDetails({ file, line, column }: Place): Pick<BuildErrorDetails, "file" | "line" | "column"> {
  return { ...(file === defaultEntry ? {} : { file }), line, column };
}
