import { join } from "node:path";
import { expect, it } from "vitest";
import { errorOfResponse } from "../../client/errors.ts";
import { failureOf } from "../../cli/failure.ts";
import { errorCodes } from "../../domain/error-codes.ts";
import { bodyOf, errorSamples } from "../support/error-samples.ts";

/** What `hw` prints for each error code, as a person reads it. After a change of texts, `-u` writes the file: read what differs. */
it("shows the text in error-texts.txt for each error code", async () => {
  expect(Object.keys(errorSamples)).toEqual([...errorCodes]);
  const texts = errorCodes.map((code) => {
    const sample = errorSamples[code];
    const error = errorOfResponse({ status: sample[0], headers: new Headers({ "x-request-id": "req_1" }) }, bodyOf(code, sample));
    const { message, hint, exitCode } = failureOf(error);
    return `${code} (exit code ${exitCode})\nhw: ${message}\n${hint === undefined ? "" : `    ${hint}\n`}`;
  });
  await expect(texts.join("\n")).toMatchFileSnapshot(join(import.meta.dirname, "error-texts.txt"));
});
