import { ApiError } from "../../client/errors.ts";
import { exitCodes, Failure } from "../failure.ts";

/** Adds flags to an error about props. */
function rejectionOf(error: unknown): unknown {
  return error instanceof ApiError && error.code === "invalid_props" ? invalidProps(error) : error;
}

function invalidProps(error: ApiError): Failure {
  const flags = wrongProps(error)
    .map((prop) => `--prop ${prop}=…`)
    .join(" ");
  return new Failure(error.message, {
    exitCode: exitCodes.refused,
    hint: flags === "" ? "`hw props` lists the props of a file, component or source" : `give ${flags}, or --props FILE`,
    cause: error,
  });
}

/** Names of the props without a value, or with a wrong one, in an error about props. */
export const wrongProps = ({ details }: ApiError): readonly string[] =>
  (Array.isArray(details) ? (details as readonly unknown[]) : [])
    .filter(isComplaint)
    .filter(({ code }) => code !== "unknown_prop")
    .map(({ prop }) => prop);

const isComplaint = (value: unknown): value is { readonly prop: string; readonly code?: unknown } =>
  typeof value === "object" && value !== null && "prop" in value && typeof value.prop === "string";

/** Runs a request that sends code or props, and explains its refusal. */
export async function explained<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw rejectionOf(error);
  }
}
