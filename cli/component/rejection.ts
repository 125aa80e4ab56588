import { ApiError } from "../../client/errors.ts";
import { exitCodes, Failure } from "../failure.ts";

interface BuildDetails {
  readonly text?: unknown;
  readonly line?: unknown;
}

/** The lines of code around a mistake that the builder has found; empty for other errors. */
export function codeFrameOf(error: unknown): readonly string[] {
  if (!(error instanceof ApiError) || typeof error.details !== "object" || error.details === null) return [];
  const { text, line } = error.details as BuildDetails; // Of any type, which is checked.
  return typeof text === "string" && typeof line === "number" ? text.split("\n").map((each) => `  ${each}`) : [];
}

/** Adds the code frame to an error of the builder, and flags to an error about props. */
export function rejectionOf(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.code === "invalid_props") return invalidProps(error);
  const frame = codeFrameOf(error);
  if (frame.length === 0) return error;
  return new Failure([error.message, ...frame].join("\n"), { exitCode: exitCodes.refused, cause: error });
}

function invalidProps(error: ApiError): Failure {
  const complaints: readonly unknown[] = Array.isArray(error.details) ? error.details : [];
  const names = complaints.flatMap((each) => (typeof each === "object" && each !== null && "prop" in each ? [String(each.prop)] : []));
  const flags = names.map((name) => `--prop ${name}=…`).join(" ");
  return new Failure(error.message, {
    exitCode: exitCodes.refused,
    hint: flags === "" ? "`hw props` lists all props" : `give ${flags}, or --props FILE`,
    cause: error,
  });
}

/** Runs a request that sends code or props, and explains its refusal. */
export async function explained<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw rejectionOf(error);
  }
}
