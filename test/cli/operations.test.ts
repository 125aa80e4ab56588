import { describe, expect, it } from "vitest";
import { loadAll } from "../../cli/commands.ts";
import { parse } from "../../cli/program.ts";
import { routes } from "../../client/generated/operations.ts";
import own from "../../cli/package.json" with { type: "json" };
import whole from "../../package.json" with { type: "json" };

const all = await loadAll();

/** The API server of the cluster calls it, as its audit webhook. */
const notForPeople = "adminReceiveKubernetesAuditEvents";

it("has a command for every operation of the REST API that people call", () => {
  const used = new Set<string>([notForPeople, ...all.flatMap(({ definition }) => definition.operations)]);
  expect(Object.keys(routes).filter((id) => !used.has(id))).toEqual([]);
});

it("has the version of the repository in the package of the command line", () => {
  expect(own.version).toBe(whole.version);
});

describe.each(all)("hw $name", ({ name, definition, summary }) => {
  it("has a summary, and an example unless it is the list of a kind", () => {
    expect(summary).toMatch(/^[a-z$]|^API/);
    const isList = name.endsWith(" list");
    const isGroup = definition.run === undefined;
    expect(isList || isGroup || definition.examples.length > 0).toBe(true);
  });

  it("has examples that begin with its name", () => {
    const names = definition.examples.map(({ command }) => command.startsWith(`hw ${name}`));
    expect(names).not.toContain(false);
  });

  it("accepts its examples", async () => {
    const refused: string[] = [];
    const write = (text: string): void => void refused.push(text);
    for (const { command } of definition.examples) {
      const invocation = await parse(wordsOf(command), { writeOut: write, writeErr: write });
      expect({ command, invocation }).toMatchObject({ invocation: { given: expect.anything() as unknown } });
    }
    expect(refused).toEqual([]);
  });

  it("declares each option and argument once", () => {
    const flags = [...(definition.options ?? []), ...(definition.arguments ?? [])].map((each) =>
      "flags" in each ? each.flags : each.name,
    );
    expect(new Set(flags).size).toBe(flags.length);
  });
});

/** Words of the first command of a line of shell, without `hw`. */
function wordsOf(line: string): string[] {
  const [command = ""] = line.split(/ (?:>|\||&&) /);
  return [...command.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].slice(1).map(([word]) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"));
}
