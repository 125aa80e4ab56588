import { join } from "node:path";
import { expect, it } from "vitest";
import { steadyPort } from "../support/steady-port.ts";
import { blocksOf, missingLines, Session } from "../e2e/support/documented-session.ts";
import { until } from "../support/until.ts";

const root = join(import.meta.dirname, "..", "..");

interface Step {
  readonly line: number;
  readonly command: string;
  readonly output: string;
}

/** The `console` blocks of a page: what follows a `$ ` is typed, the lines below it are what one sees. */
function stepsOf(page: string): readonly Step[] {
  const blocks = blocksOf(page).filter(({ language }) => language === "console");
  return blocks.flatMap(({ line, text }) =>
    text
      .split(/^\$ /m)
      .filter((part) => part !== "")
      .map((part) => ({ line, command: part.split("\n")[0] ?? "", output: part.split("\n").slice(1).join("\n") })),
  );
}

/** How wide a column is depends on the longest name in it, and names end in chance. */
const unpadded = (text: string): string => text.replaceAll(/ {2,}/g, " ");

it("docs/kubernetes.md shows what kubectl prints", async () => {
  const ports = { "127.0.0.1:3000": await steadyPort(), "127.0.0.1:3001": await steadyPort() };
  const here = (text: string): string =>
    Object.entries(ports).reduce(
      (changed, [documented, port]) =>
        changed.replaceAll(documented, `127.0.0.1:${port}`).replaceAll(` ${documented.slice(-4)}:80`, ` ${port}:80`),
      text,
    );
  const session = new Session(root);
  try {
    for (const { line, command, output } of stepsOf("docs/kubernetes.md")) {
      const printed = await session.run(here(command));
      const missing = (): readonly string[] => missingLines(unpadded(here(output)), unpadded(printed()));
      await until(() => missing().length === 0, `docs/kubernetes.md:${line} shows what ${command} prints`, {
        more: () => `not printed: ${missing().join("\n")}\nprinted: ${printed()}\nerrors: ${session.errors}`,
      });
    }
  } finally {
    await session.close();
  }
  expect(stepsOf("docs/kubernetes.md").length).toBeGreaterThan(10);
});
