import { AssertionError } from "./assert-error.ts";
import { doesNotReject, doesNotThrow, rejects, throws } from "./assert-throws.ts";
import { isDeepEqual } from "./deep-equal.ts";
import { invalidArgument, nodeError } from "../errors.ts";
import { inspect } from "../inspect/inspect.ts";

type Message = string | Error | undefined;

function check(
  passed: boolean,
  message: Message,
  details: { actual?: unknown; expected?: unknown; operator: string; text?: string },
  from: unknown,
): void {
  if (passed) return;
  if (message instanceof Error) throw message;
  const { text, ...rest } = details;
  const failure = new AssertionError({ ...rest, message: message ?? text, stackStartFn: from });
  failure.generatedMessage = message === undefined;
  throw failure;
}

function ok(...args: [value?: unknown, message?: Message]): void {
  const [value, message] = args;
  const text = args.length === 0 ? "No value argument passed to `assert.ok()`" : "The expression evaluated to a falsy value";
  check(Boolean(value), message, { actual: value, expected: true, operator: "==", text }, ok);
}

// eslint-disable-next-line eqeqeq -- `assert.equal` is defined by ==
const looselyEqual = (a: unknown, b: unknown): boolean => a == b || (a !== a && b !== b);

type Comparison = (actual: unknown, expected: unknown) => boolean;

function comparison(operator: string, passes: Comparison): (actual: unknown, expected: unknown, message?: Message) => void {
  return function compare(actual, expected, message) {
    check(passes(actual, expected), message, { actual, expected, operator }, compare);
  };
}

const strictEqual = comparison("strictEqual", Object.is);
const notStrictEqual = comparison("notStrictEqual", (a, b) => !Object.is(a, b));
const deepStrictEqual = comparison("deepStrictEqual", (a, b) => isDeepEqual(a, b, true));
const notDeepStrictEqual = comparison("notDeepStrictEqual", (a, b) => !isDeepEqual(a, b, true));

/** Is each member of `expected` present in `actual` and equal? */
function contains(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null)
    return Object.is(actual, expected);
  if (Object.getPrototypeOf(expected) !== Object.prototype && !Array.isArray(expected)) return isDeepEqual(actual, expected, true);
  return Object.entries(expected).every(([name, value]) => name in actual && contains((actual as Record<string, unknown>)[name], value));
}

function match(text: unknown, pattern: RegExp, message?: Message): void {
  if (!(pattern instanceof RegExp)) throw invalidArgument("regexp", "an instance of RegExp", pattern);
  const reason =
    typeof text === "string"
      ? `The input did not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`
      : `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})`;
  check(
    typeof text === "string" && pattern.test(text),
    message,
    { actual: text, expected: pattern, operator: "match", text: reason },
    match,
  );
}
function doesNotMatch(text: unknown, pattern: RegExp, message?: Message): void {
  check(
    typeof text === "string" && !pattern.test(text),
    message,
    {
      actual: text,
      expected: pattern,
      operator: "doesNotMatch",
      text: `The input was expected to not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`,
    },
    doesNotMatch,
  );
}

function fail(message: Message = "Failed"): never {
  if (message instanceof Error) throw message;
  throw new AssertionError({ message, operator: "fail", stackStartFn: fail });
}

function ifError(value: unknown): void {
  if (value === null || value === undefined) return;
  throw new AssertionError({
    actual: value,
    expected: null,
    operator: "ifError",
    message: `ifError got unwanted exception: ${value instanceof Error ? value.message : inspect(value)}`,
    stackStartFn: ifError,
  });
}

const shared = {
  AssertionError,
  deepStrictEqual,
  doesNotMatch,
  doesNotReject,
  doesNotThrow,
  fail,
  ifError,
  match,
  notDeepStrictEqual,
  notStrictEqual,
  ok,
  rejects,
  strictEqual,
  throws,
  partialDeepStrictEqual: comparison("partialDeepStrictEqual", contains),
  CallTracker: class {
    constructor() {
      throw nodeError("ERR_SANDBOX_UNSUPPORTED", "assert.CallTracker is not available to components: count calls yourself");
    }
  },
};

const strict = Object.assign((...args: [value?: unknown, message?: Message]) => ok(...args), shared, {
  equal: strictEqual,
  notEqual: notStrictEqual,
  deepEqual: deepStrictEqual,
  notDeepEqual: notDeepStrictEqual,
});
Object.assign(strict, { strict });

/** `node:assert`; `assert/strict` is `strict`. */
const assert = Object.assign((...args: [value?: unknown, message?: Message]) => ok(...args), shared, {
  strict,
  equal: comparison("==", looselyEqual),
  notEqual: comparison("!=", (a, b) => !looselyEqual(a, b)),
  deepEqual: comparison("deepEqual", (a, b) => isDeepEqual(a, b, false)),
  notDeepEqual: comparison("notDeepEqual", (a, b) => !isDeepEqual(a, b, false)),
});
export default assert;
export { strict };
