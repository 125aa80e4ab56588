import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, SerializedError, TestModule, TestSpecification, TestSuite } from "vitest/node";
import { root } from "./checks.ts";
import { type Failure, reportVariable, type TestFile, type TestRun } from "./vitest.ts";

const progressMs = 15_000;

/**
 * Prints how far the run is, and writes a `TestRun` as JSON when the tests have ended. A failure is a test, or a hook or a file that throws: vitest skips the
 * tests of a failed `beforeAll`, so they count as skipped.
 */
export default class FailureReporter implements Reporter {
  private readonly done: TestModule[] = [];
  private progress: NodeJS.Timeout | undefined;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const startedAt = performance.now();
    this.progress = setInterval(() => {
      const failed = this.done.filter((module) => !module.ok()).length;
      const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
      console.log(`${this.done.length} of ${specifications.length} test files done, ${failed} failed, ${minutes} min`);
    }, progressMs);
  }

  onTestModuleEnd(module: TestModule): void {
    this.done.push(module);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    clearInterval(this.progress);
    const file = process.env[reportVariable];
    if (file === undefined) return;
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const failures = [...modules.flatMap(failuresOf), ...unhandled.map((error) => failureOf("an error outside of the tests", [error]))];
    const run: TestRun = {
      passed: tests.filter((test) => test.result().state === "passed").length,
      failed: failures.length,
      skipped: tests.filter((test) => ["skipped", "pending"].includes(test.result().state)).length,
      failures,
      files: this.done.map((module, index) => fileOf(module, this.done.slice(0, index))),
    };
    writeFileSync(file, JSON.stringify(run));
  }
}

function fileOf(module: TestModule, earlier: readonly TestModule[]): TestFile {
  const { workerId, cpuMs = 0 } = module.meta();
  const before = earlier.filter((other) => other.meta().workerId === workerId);
  const pathOf = ({ moduleId }: TestModule): string => relative(root, moduleId);
  return { path: pathOf(module), failed: !module.ok(), cpuSeconds: cpuMs / 1_000, before: before.map(pathOf) };
}

function failuresOf(module: TestModule): Failure[] {
  const path = relative(root, module.moduleId);
  const ofSuite = (suite: TestModule | TestSuite, name: string): Failure[] =>
    suite.errors().length === 0 ? [] : [failureOf(name, suite.errors())];
  return [
    ...ofSuite(module, `${path}, its code or a hook`),
    ...[...module.children.allSuites()].flatMap((suite) => ofSuite(suite, `${path} ${suite.fullName}, a hook`)),
    ...[...module.children.allTests("failed")].map((test) => failureOf(`${path} ${test.fullName}`, test.result().errors ?? [])),
  ];
}

/** One line of a log: whitespace is collapsed. Only the first error is shown, with the line of our code that threw it. */
function failureOf(name: string, [error]: readonly SerializedError[]): Failure {
  const message = (error?.message ?? "no error was reported").replaceAll(/\s+/g, " ").trim();
  const frames = (error?.stacks ?? []).filter(({ file }) => !file.includes("/node_modules/"));
  const frame = frames.find(({ file }) => /\.test\.[jt]s$/.test(file)) ?? frames[0];
  const at = frame === undefined ? "" : ` (${relative(root, frame.file.replace("file://", ""))}:${frame.line})`;
  return { name: `${name}${at}`, message };
}
