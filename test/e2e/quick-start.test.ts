import { globSync, readdirSync, readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maxAttempts, nextAttempt } from "../../domain/delivery/retry-schedule.ts";
import { describeConfiguration } from "../../platform/process/settings/configuration.ts";
import { missingPrograms } from "../support/on-path.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { blocksOf, difference, missingLines, Session, type Block } from "./support/documented-session.ts";
import { startHeadwater, until, type Headwater } from "./support/headwater.ts";

/**
 * Runs each page's shell blocks in one shell, against a Headwater with its own data and ports, and compares their output with the blocks
 * that follow them.
 */
const root = join(import.meta.dirname, "..", "..");
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
const startLine = /^((?:[A-Z_]+=\S+ )*)npm start$/;
const quotedFiles = pages.flatMap(blocksOf).filter(({ title }) => title !== "");

const needsOpenssl = (page: string): boolean => blocksOf(page).some(({ language, text }) => language === "sh" && text.includes("openssl"));

let directory: TemporaryDirectory;
let headwater: Headwater;
const ports: { documented: string; actual: string }[] = [];

beforeAll(async () => {
  directory = await temporaryDirectory("docs");
  for (const folder of ["bin", "docs", "fixtures"]) await symlink(join(root, folder), join(directory.path, folder));
  headwater = await startHeadwater({ dataDirectory: join(directory.path, ".headwater"), env: documentedSettings() });
  ports.push({ documented: "127.0.0.1:3000", actual: new URL(headwater.apiUrl).host });
  ports.push({ documented: "127.0.0.1:3001", actual: new URL(headwater.ingressUrl).host });
  for (const documented of ["4000", "8080", "8443"]) ports.push({ documented, actual: String(await steadyPort()) });
});
afterAll(async () => {
  expect(await headwater.stop()).toBe(0);
  await directory.remove();
});

/** The settings that the quick start gives to `npm start`. */
function documentedSettings(): Record<string, string> {
  const line = blocksOf("README.md")
    .map(({ text }) => startLine.exec(text.trim())?.[1])
    .find((found) => found !== undefined);
  if (line === undefined) throw new Error("the README does not say how to start");
  return Object.fromEntries(
    line
      .trim()
      .split(" ")
      .map((setting) => setting.split("=", 2)),
  );
}

const here = (text: string): string => ports.reduce((changed, { documented, actual }) => changed.replaceAll(documented, actual), text);

/** A reader runs `hw dev` in a terminal of its own; here it runs in the background, and the block ends when it has deployed. */
const inOneTerminal = (text: string): string =>
  text.replace(/^hw dev .*$/m, (command) => `${command} > >(tee dev.log) 2>&1 &\nuntil grep -qs "→ http" dev.log; do sleep 0.1; done`);

async function expectPageIsTrue(page: string): Promise<void> {
  const session = new Session(directory.path);
  let printed = (): string => "";
  try {
    for (const block of blocksOf(page)) {
      if (block.language === "sh" && !startLine.test(block.text.trim())) printed = await session.run(inOneTerminal(here(block.text)));
      else if (block.language === "text" || block.language === "json") await compare(block, printed, session);
    }
  } finally {
    await session.close();
  }
}

async function compare({ page, line, language, text }: Block, printed: () => string, session: Session): Promise<void> {
  const where = `${page}:${line}`;
  const expected = here(text);
  const more = (): string => `${where}\nprinted: ${printed()}\nerrors: ${session.errors}`;
  if (language === "json") return expect(difference(JSON.parse(expected), parse(printed())), more()).toBeUndefined();
  // Background commands print some of it later.
  await until(
    () => missingLines(expected, printed()).length === 0,
    "the documented output is printed",
    30_000,
    () => `${missingLines(expected, printed()).join("\n")}\n${more()}`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The command line reads a few variables of its own. */
const commandLineSource = globSync("cli/**/*.ts", { cwd: root })
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n");

describe("the documentation", () => {
  const withShell = pages.filter((page) => blocksOf(page).some(({ language }) => language === "sh"));
  describe.skipIf(missingPrograms(["openssl"]).length > 0)("with openssl, which is skipped where it is not on PATH", () => {
    it.each(withShell.filter(needsOpenssl))("the commands of %s print what the page shows", (page) => expectPageIsTrue(page), 240_000);
  });
  it.each(withShell.filter((page) => !needsOpenssl(page)))("the commands of %s print what the page shows", (page) =>
    expectPageIsTrue(page),
  );

  it.each(quotedFiles)("$page:$line quotes $title", ({ title, text }) => {
    expect(readFileSync(join(root, title), "utf8")).toContain(text);
  });

  it("lists the waits of the retry schedule", () => {
    const rows = [...readFileSync(join(root, "docs/delivery.md"), "utf8").matchAll(/^\| (\d+) \| (\d+) (s|min|h) \|/gm)];
    const units: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000 };
    const documented = rows.map(([, attempt, wait, unit = ""]) => [Number(attempt), Number(wait) * (units[unit] ?? 0)]);
    const actual = Array.from({ length: maxAttempts - 1 }, (_, index) => [index + 2, nextAttempt(index + 1, 0.5)]);
    expect(documented).toEqual(actual);
  });

  it.each(pages)("%s only names existing settings", (page) => {
    const names = readFileSync(join(root, page), "utf8").match(/\bHEADWATER_(?!TEST_)[A-Z_]*[A-Z]\b/g) ?? [];
    const settings = describeConfiguration() + commandLineSource;
    expect(names.filter((name) => !settings.includes(name))).toEqual([]);
  });
});
