import { ApiError } from "../../client/errors.ts";
import { exitCodes, Failure } from "../failure.ts";

/** Adds flags to an error about props. */
export function rejectionOf(error: unknown): unknown {
  return error instanceof ApiError && error.code === "invalid_props" ? invalidProps(error) : error;
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
