import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registryAnswers } from "../support/npm-registry.ts";
import { packageOf, titleOf } from "./connector-runs/contract.ts";
import { startRuns, type Runs } from "./connector-runs/run.ts";
import { services } from "./connector-runs/services/all.ts";

const answers = await registryAnswers();
const why = answers ? "" : " (skipped: the registry of npm's configuration does not answer)";

let runs: Runs;
beforeAll(async () => {
  if (answers) runs = await startRuns();
});
afterAll(() => runs?.stop());

describe.skipIf(!answers).each(services.map((service) => ({ ...packageOf(service), service })))(`$name@$version${why}`, ({ service }) => {
  it.each(service.cases.map((each) => ({ each, title: titleOf(each) })))("$title", async ({ each }) => {
    expect(await runs.run(service, each)).toEqual([]);
  });
});
