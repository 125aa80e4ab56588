import { ApiError } from "../../client/errors.ts";
import type { CodeProblem } from "./code-editor-props.ts";

/** The position of a build error in the code, if the API reports one. Other files than the entry have no editor. */
export function codeProblemsOf(error: Error | null): readonly CodeProblem[] {
  if (!(error instanceof ApiError) || typeof error.details !== "object" || error.details === null) return [];
  const { line, column = 1 } = error.details as { readonly line?: unknown; readonly column?: unknown };
  return typeof line === "number" ? [{ line, column: typeof column === "number" ? column : 1, message: error.message }] : [];
}

/** Complaints about single fields of a request, by the name of the field. */
export function fieldErrorsOf(error: Error | null): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError) || !Array.isArray(error.details)) return {};
  const found = error.details.flatMap((detail: { readonly field?: unknown; readonly prop?: unknown; readonly message?: unknown }) => {
    const name = detail.prop ?? detail.field;
    return typeof name === "string" && typeof detail.message === "string" ? [[name, detail.message] as const] : [];
  });
  return Object.fromEntries(found);
}
