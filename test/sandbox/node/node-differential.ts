import { createRequire } from "node:module";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Bundle } from "../../../runner/sandbox/port.ts";
import { errorOf, requestFor, shareSandbox, type SandboxFixture } from "../sandbox-fixture.ts";

/**
 * A function under test: inputs that JSON can carry, and the body of an async function of `(input, require, attempt, show, value)`. It runs in
 * Node and in an isolate; what it returns must be the same.
 */
export interface Subject {
  readonly inputs: fc.Arbitrary<unknown>;
  readonly body: string;
  /** Inputs tried; 150 unless said. */
  readonly runs?: number;
}

/** `attempt` describes a thrown value, `show` converts a result to plain data, `value` evaluates the text written by `fc.stringify`. */
const helpers = `
const show = (v) => v === undefined ? "undefined" : typeof v === "bigint" ? v + "n" : typeof v === "number" ? (Object.is(v, -0) ? "-0" : Number.isFinite(v) ? v : String(v)) : typeof v === "symbol" ? String(v) : typeof v === "function" ? "function " + v.name : v instanceof Error ? { error: v.name, code: v.code } : ArrayBuffer.isView(v) ? [v.constructor.name, ...new Uint8Array(v.buffer, v.byteOffset, v.byteLength)] : v instanceof ArrayBuffer ? ["ArrayBuffer", ...new Uint8Array(v)] : v instanceof Map || v instanceof Set ? [v.constructor.name, ...v].map(show) : v instanceof Date || v === null || typeof v !== "object" ? v : Array.isArray(v) ? v.map(show) : Object.fromEntries(Object.entries(v).map(([k, x]) => ["." + k, show(x)]));
const attempt = (act) => { try { return act(); } catch (error) { return { threw: error.name, code: error.code }; } };
const value = (text) => new Function("return (" + text + ")")();`;

// Random seeds also find defects of Node, such as URLSearchParams("😀%C3"), which is not decoded as UTF-8: they are for a person to judge.
const seed = Number(process.env["HEADWATER_TEST_SEED"] ?? 20_261_121);
const factor = Number(process.env["HEADWATER_TEST_RUNS"] ?? 1);

type Run = (name: string, input: unknown) => Promise<unknown>;

/**
 * One test for each subject. HEADWATER_TEST_SEED tries another seed, HEADWATER_TEST_RUNS=10 ten times as many inputs.
 *
 * @param share of the inputs
 */
export function testSubjects(subjects: Readonly<Record<string, Subject>>, share = 1): void {
  let fixture: SandboxFixture;
  let inSandbox: Run;
  const inNode = nodeRun(subjects);
  beforeAll(async () => {
    fixture = await shareSandbox();
    inSandbox = sandboxRun(fixture, await fixture.bundle(componentOf(subjects)));
  });
  afterAll(() => fixture.stop());

  it.each(Object.entries(subjects))("%s: as in Node", async (name, { inputs, runs = 150 }) => {
    await fc.assert(
      fc.asyncProperty(inputs, async (input) => {
        const [ours, theirs] = await Promise.all([inSandbox(name, input), inNode(name, input)]);
        expect(ours).toEqual(theirs);
      }),
      { numRuns: Math.ceil(runs * share * factor), seed },
    );
  });
}

const functionsOf = (subjects: Readonly<Record<string, Subject>>): string =>
  Object.entries(subjects)
    .map(([name, { body }]) => `${JSON.stringify(name)}: async (input) => { ${body} }`)
    .join(",\n");

function nodeRun(subjects: Readonly<Record<string, Subject>>): Run {
  const make = new Function(
    "require",
    `${helpers}\nconst subjects = {\n${functionsOf(subjects)}\n};\nreturn async (name, input) => show(await subjects[name](input));`,
  );
  const run = make(createRequire(import.meta.url)) as Run; // the line above
  return async (name, input) => {
    const result = await run(name, JSON.parse(JSON.stringify(input)));
    return JSON.parse(JSON.stringify(result ?? null));
  };
}

const componentOf = (subjects: Readonly<Record<string, Subject>>): string =>
  `const require = (name) => globalThis.__builtin(name);${helpers}\nconst subjects = {\n${functionsOf(subjects)}\n};\nexport default { name: "differential", async run({ name, input }) { return show(await subjects[name](input)); } };`;

function sandboxRun(fixture: SandboxFixture, bundle: Bundle): Run {
  return async (name, input) => {
    const request = requestFor(bundle, { event: JSON.stringify({ name, input }), limits: { memoryMb: 256 } });
    const execution = await fixture.sandbox.execute(request);
    if (execution.outcome !== "returned") throw new Error(JSON.stringify(errorOf(execution), null, 1));
    return JSON.parse(execution.result ?? "null");
  };
}

/** Text of an expression for a value of any kind that a component may hold. */
export const anything: fc.Arbitrary<string> = fc
  .anything({
    maxDepth: 3,
    maxKeys: 4,
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  })
  .map((each) => fc.stringify(each))
  .filter((text) => text.length < 2_000);

/** Texts with what encodings and parsers stumble over. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc
    .array(
      fc.constantFrom(
        "a",
        "Z",
        "0",
        " ",
        "+",
        "%",
        "%20",
        "%zz",
        "%C3",
        "&",
        "=",
        "?",
        "#",
        "/",
        "\\",
        ":",
        "@",
        ".",
        "..",
        "é",
        "€",
        "😀",
        "\ud83d",
        "\ude00",
        "\u0000",
        "\n",
        "'",
        '"',
        "<",
        "[",
        "]",
        "{",
        "|",
        "^",
        "~",
        "-",
        "_",
        ";",
        ",",
        "$",
        "!",
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join("")),
);

/** Numbers with what bounds stumble over. */
export const anyNumber: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: -5, max: 20 }),
  fc.integer(),
  fc.constantFrom(0.5, -1.5, 2 ** 31, 2 ** 32, 2 ** 40, -(2 ** 31)),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

export const bytes = (maxLength = 40): fc.Arbitrary<number[]> => fc.array(fc.integer({ min: 0, max: 255 }), { maxLength });
