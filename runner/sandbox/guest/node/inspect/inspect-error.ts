import type { InspectContext } from "./inspect-layout.ts";

type Key = string | symbol;

function stackOf(error: Error): string {
  const { stack } = error;
  if (typeof stack === "string" && stack !== "") return stack;
  return Error.prototype.toString.call(error);
}

/** The stack, or `[message]` without one; keys it already shows are removed from `keys`, `cause` and `errors` are added. */
export function formatError(context: InspectContext, error: Error, constructor: string | null, keys: Key[]): string {
  let stack = stackOf(error);
  dropShownKeys(error, stack, keys, context.showHidden);
  if ("cause" in error && !keys.includes("cause")) keys.push("cause");
  if (Array.isArray((error as { errors?: unknown }).errors) && !keys.includes("errors")) keys.push("errors");
  stack = withClassName(stack, error, constructor);
  const from = error.message ? stack.indexOf(error.message) : -1;
  const frames = stack.indexOf("\n    at", from === -1 ? 0 : from + error.message.length);
  if (frames === -1) stack = `[${stack}]`;
  return context.indentation === 0 ? stack : stack.replaceAll("\n", `\n${" ".repeat(context.indentation)}`);
}

function dropShownKeys(error: Error, stack: string, keys: Key[], showHidden: boolean): void {
  if (showHidden) return;
  for (const name of ["name", "message", "stack"] as const) {
    const index = keys.indexOf(name);
    if (index !== -1 && (typeof error[name] !== "string" || stack.includes(error[name]))) keys.splice(index, 1);
  }
}

// The stack was captured with the name the error had then; a subclass that set none is shown by its class.
function withClassName(stack: string, error: Error, constructor: string | null): string {
  const name = constructor ?? (typeof error.name === "string" ? error.name : "Error");
  if (constructor === null || name === "Error" || stack.split("\n", 1)[0]?.includes(name) === true) return stack;
  const start = /^([A-Z][a-z_ A-Z0-9[\]()-]+)(?::|\n {4}at)/.exec(stack) ?? /^([a-z_A-Z0-9-]*Error)$/.exec(stack);
  const shown = start?.[1];
  if (shown === undefined) return stack;
  if (name.endsWith("Error") && shown.endsWith("Error") && !name.includes(shown))
    return `${name} [${shown}]${stack.slice(shown.length)}`.replace(` [${shown}]`, shown === "Error" ? "" : ` [${shown}]`);
  return `${name}${stack.slice(shown.length)}`;
}
