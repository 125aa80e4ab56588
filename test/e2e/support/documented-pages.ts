import { readdirSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { steadyPort } from "../../support/steady-port.ts";
import { blocksOf, difference, missingLines, Session, type Block } from "./documented-session.ts";
import { until } from "../../support/until.ts";
import type { Client } from "../../support/system/client.ts";

const root = join(import.meta.dirname, "..", "..", "..");
export const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
const startLine = /^((?:[A-Z_]+=\S+ )*)npm start$/;

/** The settings that the quick start gives to `npm start`. */
export function documentedSettings(): Record<string, string> {
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

/**
 * Prepares a directory in which `.headwater` has the data of this Headwater. The returned function runs the shell blocks of a page there, in one
 * shell, and compares their output with the blocks that follow them.
 */
export async function readerOf(directory: string, headwater: Client): Promise<(page: string) => Promise<void>> {
  for (const folder of ["bin", "docs", "fixtures"]) await symlink(join(root, folder), join(directory, folder));
  const ports = [
    { documented: "127.0.0.1:3000", actual: new URL(headwater.apiUrl).host },
    { documented: "127.0.0.1:3001", actual: new URL(headwater.ingressUrl).host },
  ];
  for (const documented of ["4000", "8080", "8443"]) ports.push({ documented, actual: String(await steadyPort()) });
  const here = (text: string): string => ports.reduce((changed, { documented, actual }) => changed.replaceAll(documented, actual), text);
  return async (page) => {
    const session = new Session(directory);
    let printed = (): string => "";
    try {
      for (const block of blocksOf(page)) {
        if (block.language === "sh" && !startLine.test(block.text.trim())) printed = await session.run(inOneTerminal(here(block.text)));
        else if (block.language === "text" || block.language === "json") await compare(block, here(block.text), printed, session);
      }
    } finally {
      await session.close();
    }
  };
}

/** A reader runs `hw dev` in a terminal of its own; here it runs in the background, and the block ends when it has deployed. */
const inOneTerminal = (text: string): string =>
  text.replace(/^hw dev .*$/m, (command) => `${command} > >(tee dev.log) 2>&1 &\nuntil grep -qs "→ http" dev.log; do sleep 0.1; done`);

async function compare({ page, line, language }: Block, expected: string, printed: () => string, session: Session): Promise<void> {
  const more = (): string => `${page}:${line}\nprinted: ${printed()}\nerrors: ${session.errors}`;
  if (language === "json") return expect(difference(JSON.parse(expected), parse(printed())), more()).toBeUndefined();
  // Background commands print some of it later.
  await until(() => missingLines(expected, printed()).length === 0, "the documented output is printed", {
    more: () => `${missingLines(expected, printed()).join("\n")}\n${more()}`,
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
