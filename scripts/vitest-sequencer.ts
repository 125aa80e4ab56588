import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./checks.ts";

/** The environment variable with the files of `npm test -- --in-order`, separated by spaces. */
export const orderVariable = "HEADWATER_TEST_ORDER";

/** The files of `npm test -- --in-order`, or undefined for vitest's order. */
export const givenOrder = process.env[orderVariable]?.split(" ");

/** Runs the files in the order in which they are named. */
export class GivenOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => givenOrder?.indexOf(relative(root, moduleId)) ?? 0;
    return files.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
