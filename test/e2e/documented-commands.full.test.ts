import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingPrograms } from "../support/on-path.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { documentedSettings, pages, readerOf } from "./support/documented-pages.ts";
import { blocksOf } from "./support/documented-session.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";

/** Runs the shell blocks of each page but README.md, which npm-start.test.ts runs, against a Headwater with its own data and ports. */
let directory: TemporaryDirectory;
let headwater: Headwater;
let expectPageIsTrue: (page: string) => Promise<void>;

beforeAll(async () => {
  directory = await temporaryDirectory("docs");
  headwater = await startHeadwater({ dataDirectory: join(directory.path, ".headwater"), env: documentedSettings() });
  expectPageIsTrue = await readerOf(directory.path, headwater);
});
afterAll(async () => {
  expect(await headwater.stop()).toBe(0);
  await directory.remove();
});

const needsOpenssl = (page: string): boolean => blocksOf(page).some(({ language, text }) => language === "sh" && text.includes("openssl"));

describe("the documentation", () => {
  const withShell = pages.slice(1).filter((page) => blocksOf(page).some(({ language }) => language === "sh"));
  describe.skipIf(missingPrograms(["openssl"]).length > 0)("with openssl, which is skipped where it is not on PATH", () => {
    it.each(withShell.filter(needsOpenssl))("the commands of %s print what the page shows", (page) => expectPageIsTrue(page));
  });
  it.each(withShell.filter((page) => !needsOpenssl(page)))("the commands of %s print what the page shows", (page) =>
    expectPageIsTrue(page),
  );
});
