import { inspect } from "../inspect/inspect.ts";

export interface AssertionDetails {
  readonly message?: string | undefined;
  readonly actual?: unknown;
  readonly expected?: unknown;
  readonly operator?: string;
  readonly stackStartFn?: unknown;
}

const headings: Record<string, string> = {
  deepStrictEqual: "Expected values to be strictly deep-equal:",
  strictEqual: "Expected values to be strictly equal:",
  strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
  deepEqual: "Expected values to be loosely deep-equal:",
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  notIdentical: "Values identical but not reference-equal:",
  notDeepEqualUnequal: "Expected values not to be loosely deep-equal:",
};

const show = (value: unknown): string =>
  inspect(value, {
    compact: false,
    customInspect: false,
    depth: 1000,
    maxArrayLength: Infinity,
    showHidden: false,
    showProxy: false,
    sorted: true,
    getters: true,
  });

/** Lines of both texts with `+` for what is there and `-` for what was expected; the longest common part decides. */
function difference(actual: readonly string[], expected: readonly string[]): string {
  const size = expected.length + 1;
  const common = new Uint32Array((actual.length + 1) * size);
  for (let i = actual.length - 1; i >= 0; i--) {
    for (let j = expected.length - 1; j >= 0; j--) {
      common[i * size + j] =
        actual[i] === expected[j]
          ? 1 + (common[(i + 1) * size + j + 1] ?? 0)
          : Math.max(common[(i + 1) * size + j] ?? 0, common[i * size + j + 1] ?? 0);
    }
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < actual.length || j < expected.length) {
    if (i < actual.length && j < expected.length && actual[i] === expected[j]) {
      lines.push(`  ${actual[i]}`);
      i += 1;
      j += 1;
    } else if (i < actual.length && (j >= expected.length || (common[(i + 1) * size + j] ?? 0) >= (common[i * size + j + 1] ?? 0))) {
      lines.push(`+ ${actual[i]}`);
      i += 1;
    } else {
      lines.push(`- ${expected[j]}`);
      j += 1;
    }
  }
  return lines.join("\n");
}

function compared(actual: unknown, expected: unknown, operator: string): string {
  const [left, right] = [show(actual), show(expected)];
  const isObject = (value: unknown): boolean => (typeof value === "object" && value !== null) || typeof value === "function";
  const name =
    operator === "strictEqual" && isObject(actual) && isObject(expected)
      ? left === right
        ? "notIdentical"
        : "strictEqualObject"
      : operator;
  const heading = headings[name] ?? "";
  const [leftLines, rightLines] = [left.split("\n"), right.split("\n")];
  if (leftLines.length === 1 && rightLines.length === 1 && left !== right && !isObject(actual) && !isObject(expected)) {
    if (left.length + right.length <= 12 && actual !== 0 && expected !== 0) return `${heading}\n\n${left} !== ${right}\n`;
    return `${heading}\n+ actual - expected\n\n+ ${left}\n- ${right}\n`;
  }
  if (name === "notIdentical") return `${heading}\n\n${left}\n`;
  // The comparison table grows with the product of both line counts.
  const limit = 1000;
  const shown =
    leftLines.length > limit || rightLines.length > limit
      ? [leftLines.slice(0, limit), rightLines.slice(0, limit)]
      : [leftLines, rightLines];
  return `${heading}\n+ actual - expected\n\n${difference(shown[0] ?? [], shown[1] ?? [])}\n`;
}

function messageOf({ actual, expected, operator = "fail" }: AssertionDetails): string {
  if (operator === "deepStrictEqual" || operator === "strictEqual") return compared(actual, expected, operator);
  if (operator === "notDeepStrictEqual" || operator === "notStrictEqual") {
    const object = (typeof actual === "object" && actual !== null) || typeof actual === "function";
    const heading = headings[operator === "notStrictEqual" && object ? "notStrictEqualObject" : operator] ?? "";
    const text = show(actual);
    return text.includes("\n") || text.length > 5 ? `${heading}\n\n${text}\n` : `${heading} ${text}`;
  }
  const [left, right] = [show(actual), show(expected)];
  if (operator === "deepEqual") return `${headings["deepEqual"]}\n\n${left}\n\nshould loosely deep-equal\n\n${right}`;
  if (operator === "notDeepEqual") return `${headings["notDeepEqual"]}\n\n${left}`;
  return `${left} ${operator} ${right}`;
}

export class AssertionError extends Error {
  generatedMessage: boolean;
  readonly code = "ERR_ASSERTION";
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator: string | undefined;
  constructor(details: AssertionDetails) {
    super(details.message ?? messageOf(details));
    this.generatedMessage = details.message === undefined;
    Object.defineProperty(this, "name", {
      value: "AssertionError [ERR_ASSERTION]",
      configurable: true,
      writable: true,
    });
    this.actual = details.actual;
    this.expected = details.expected;
    this.operator = details.operator;
    // V8 offers it; the stack starts at the caller of the assertion.
    const capture = (Error as unknown as { captureStackTrace?: (error: Error, from?: unknown) => void }).captureStackTrace;
    capture?.(this, details.stackStartFn);
    void this.stack;
    this.name = "AssertionError";
  }
  override toString(): string {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}
