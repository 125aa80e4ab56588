import type { RunError } from "../../../domain/run-products.ts";

/** Why a rule of ours ended a run. */
export function limitError(code: string, message: string): RunError {
  return { name: "LimitError", message, code };
}

/** The guest's own code never sends this: user code has manipulated it. */
export function forged(kind: string): RunError {
  return limitError("bridge_limit", `the sandbox was sent a message '${kind}' that its runtime does not make`);
}

/** An error as the guest described it, cut to size, frames of ours removed. Every field is hostile. */
export function parseRunError(name: unknown, message: unknown, stack: unknown, code: unknown): RunError {
  return {
    name: text(name, 256) || "Error",
    message: explained(text(message, 8 * 1024)),
    ...(typeof stack === "string" && { stack: cleanStack(stack) }),
    ...(typeof code === "string" && /^[a-z_]{1,64}$/.test(code) && { code }),
  };
}

/** V8's words for what isolates lack do not say why, nor what to do. */
function explained(message: string): string {
  if (!/^WebAssembly is not defined$/.test(message)) return message;
  return `${message}: it is not available to components, neither is a package that needs it; use one that is written in JavaScript, or call a service`;
}

/** What isolated-vm reports of a rejected promise that nothing handles. The class of an error survives only at the head of its stack. */
export function parseUncaught(error: unknown): RunError {
  if (!(error instanceof Error)) return unhandledRejection(typeof error === "string" ? JSON.stringify(error) : String(error));
  if (error.message.includes("thrown from supplied code within isolated-vm")) return unhandledRejection("an object that is not an Error");
  const name = /^([A-Za-z_$][\w$]{0,100})(?::|\n)/.exec(error.stack ?? "")?.[1] ?? error.name;
  return parseRunError(name, error.message, error.stack, undefined);
}

function unhandledRejection(reason: string): RunError {
  return parseRunError("UnhandledRejection", `a promise was rejected with ${reason}, and nothing handles it`, undefined, undefined);
}

const ours = /^\s+at .*(?:sandbox:|isolated-vm|node:internal|file:\/\/)/;

function cleanStack(stack: string): string {
  return stack
    .slice(0, 16 * 1024)
    .split("\n")
    .filter((line) => !ours.test(line))
    .join("\n");
}

/** Where in the bundle an error arose. */
export function bundlePosition(text: string | undefined): { readonly line: number; readonly column: number } | undefined {
  const [, line, column] = /component\.js:(\d+):(\d+)/.exec(text ?? "") ?? [];
  return line === undefined || column === undefined ? undefined : { line: Number(line), column: Number(column) };
}

function text(value: unknown, limit: number): string {
  return typeof value === "string" ? value.slice(0, limit) : "";
}
