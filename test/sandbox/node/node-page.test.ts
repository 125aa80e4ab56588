import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { surveyGlobals, surveyModules } from "./node-survey.ts";
import { compatibilityPage } from "../packages/page.ts";
import { shareSandbox, type SandboxFixture } from "../sandbox-fixture.ts";

const page = join(import.meta.dirname, "../../../docs/compatibility.md");

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());

it("docs/compatibility.md matches the tested modules", async () => {
  const text = compatibilityPage(await surveyModules(fixture), await surveyGlobals(fixture));
  if (process.env["HEADWATER_TEST_GOLDEN"] === "write") writeFileSync(page, text);
  expect(text).toBe(readFileSync(page, "utf8"));
});
