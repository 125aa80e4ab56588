import { AssertionError } from "./assert-error.ts";
import { isDeepEqual } from "./deep-equal.ts";
import { invalidArgument } from "../errors.ts";

type Work = (...args: never[]) => unknown;

function matches(error: unknown, expected: unknown, message: string | undefined, operator: string): void {
  if (expected === undefined) return;
  const fail = (text: string): never => {
    const failure = new AssertionError({ actual: error, expected, operator, message: message ?? text });
    if (message === undefined) failure.generatedMessage = true;
    throw failure;
  };
  if (expected instanceof RegExp) {
    if (!expected.test(String(error)))
      fail(`The input did not match the regular expression ${String(expected)}. Input:\n\n'${String(error)}'\n`);
    return;
  }
  if (typeof expected === "function") {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (Error === expected || Error.isPrototypeOf(expected))
      fail(
        `The error is expected to be an instance of "${expected.name}". Received "${error instanceof Error ? error.constructor.name : String(error)}"`,
      );
    if (Reflect.apply(expected, {}, [error]) !== true)
      fail(
        `The ${expected.name === "" ? "validation function" : `"${expected.name}" validation function`} is expected to return "true". Received false`,
      );
    return;
  }
  if (typeof expected !== "object" || expected === null)
    throw invalidArgument("expected", "of type function or an instance of Error, RegExp, or Object", expected);
  const names = [...Object.keys(expected), ...(expected instanceof Error ? ["name", "message"] : [])];
  for (const name of names) {
    const [actual, wanted] = [(error as Record<string, unknown> | null)?.[name], (expected as Record<string, unknown>)[name]];
    if (typeof actual === "string" && wanted instanceof RegExp && wanted.test(actual)) continue;
    if (!isDeepEqual(actual, wanted, true)) throw new AssertionError({ actual: error, expected, operator, message: message ?? undefined });
  }
}

const missing = (expected: unknown): string => (typeof expected === "function" && expected.name !== "" ? ` (${expected.name}).` : ".");

function split(expected: unknown, message: unknown): [unknown, string | undefined] {
  return typeof expected === "string" ? [undefined, expected] : [expected, message === undefined ? undefined : String(message)];
}

export function throws(work: Work, given?: unknown, text?: unknown): void {
  const [expected, message] = split(given, text);
  let thrown: { error: unknown } | undefined;
  try {
    Reflect.apply(work, undefined, []);
  } catch (error) {
    thrown = { error };
  }
  if (thrown === undefined)
    throw new AssertionError({
      actual: undefined,
      expected,
      operator: "throws",
      message: `Missing expected exception${message === undefined ? missing(expected) : `: ${message}`}`,
    });
  matches(thrown.error, expected, message, "throws");
}

const promiseOf = (work: unknown): Promise<unknown> =>
  Promise.resolve().then(() => (typeof work === "function" ? Reflect.apply(work, undefined, []) : work));

export async function rejects(work: unknown, given?: unknown, text?: unknown): Promise<void> {
  const [expected, message] = split(given, text);
  const thrown = await promiseOf(work).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  if (thrown === undefined)
    throw new AssertionError({
      actual: undefined,
      expected,
      operator: "rejects",
      message: `Missing expected rejection${message === undefined ? missing(expected) : `: ${message}`}`,
    });
  matches(thrown.error, expected, message, "rejects");
}

/** Does the error match `doesNotThrow`'s expectation? Without one, every error does. */
function isMeant(error: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) return expected.test(String(error));
  if (typeof expected !== "function") return true;
  if (expected.prototype !== undefined && error instanceof expected) return true;
  return !Error.isPrototypeOf(expected) && expected !== Error && Reflect.apply(expected, {}, [error]) === true;
}

function unwanted(error: unknown, expected: unknown, message: unknown, operator: string): never {
  if (typeof expected !== "string" && !isMeant(error, expected)) throw error;
  const kind = operator === "doesNotThrow" ? "exception" : "rejection";
  throw new AssertionError({
    actual: error,
    operator,
    message: `Got unwanted ${kind}${message === undefined ? "." : `: ${String(message)}`}\nActual message: "${error instanceof Error ? error.message : String(error)}"`,
  });
}

export function doesNotThrow(work: Work, given?: unknown, message?: unknown): void {
  try {
    Reflect.apply(work, undefined, []);
  } catch (error) {
    unwanted(error, given, typeof given === "string" ? given : message, "doesNotThrow");
  }
}
export async function doesNotReject(work: unknown, given?: unknown, message?: unknown): Promise<void> {
  await promiseOf(work).catch((error: unknown) => unwanted(error, given, typeof given === "string" ? given : message, "doesNotReject"));
}
