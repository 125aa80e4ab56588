import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { publishingRules } from "./registry-rules.ts";
import { groups, type Group, type Rule } from "./rule.ts";
import { rules } from "./rules.ts";
import { Session, Unmet } from "./session.ts";

type Outcome = "kept" | "broken" | "not asked";

export interface Output {
  print(line: string): void;
  printError(line: string): void;
}

const text = { type: "string" } as const;
const options = { url: text, key: text, only: text, "admin-token-file": text };

/**
 * `npm run conformance -- --url http://127.0.0.1:3000/v1 --key <API key>`: checks any server of this interface and
 * prints a table. Deletes what it creates; names begin with `conformance-`.
 *
 * With `--admin-token-file`, the token of Headwater's admin API, it also publishes components, and deletes them from the registry.
 *
 * `--only specification,clients` selects groups of rules. The rules of the specification always run, because the others use their resources.
 *
 * @returns the exit code: 0 when every rule is kept, 2 for wrong flags
 */
export async function conformance(args: readonly string[], output: Output): Promise<number> {
  const { values } = parseArgs({ args: [...args], options });
  const tokenFile = values["admin-token-file"];
  const only = values.only?.split(",") ?? groups;
  const unknown = only.filter((name) => !groups.some((group) => group === name));
  if (values.url === undefined || values.key === undefined) {
    output.printError("--url (with /v1) and --key are needed: npm run conformance -- --url http://127.0.0.1:3000/v1 --key <API key>");
    return 2;
  }
  if (unknown.length > 0) {
    output.printError(`--only ${unknown.join()} is invalid: it takes ${groups.join(", ")}`);
    return 2;
  }
  const chosen = groups.filter((group) => group === "specification" || only.includes(group));
  const token = tokenFile === undefined ? undefined : (await readFile(tokenFile, "utf8")).trim();
  return check(chosen, new Session(values.url, values.key, token), token !== undefined, output);
}

async function check(chosen: readonly Group[], session: Session, isAdmin: boolean, { print }: Output): Promise<number> {
  const rulesOf = (group: Group): readonly Rule[] =>
    group === "headwater" && isAdmin ? [...rules[group], ...publishingRules] : rules[group];
  const all = chosen.flatMap((group) => rulesOf(group).map((rule) => ({ group, rule })));
  const counts = { kept: 0, broken: 0, "not asked": 0 };
  const width = (of: (each: Rule) => string): number => Math.max(...all.map(({ rule }) => of(rule).length));
  const [abouts, names] = [width(({ about }) => about), width(({ name }) => name)];
  try {
    for (const { group, rule } of all) {
      const { outcome, why } = await judge(rule, session);
      counts[outcome] += 1;
      const row = [outcome.padEnd(9), group.padEnd(13), rule.about.padEnd(abouts), rule.name.padEnd(names)];
      print(`${row.join(" | ")} |${why === "" ? "" : ` ${why}`}`);
    }
  } finally {
    await session.clean();
  }
  print(`${counts.kept} of ${all.length} rules are kept, ${counts.broken} are broken, ${counts["not asked"]} could not be asked`);
  return counts.kept === all.length ? 0 : 1;
}

async function judge({ check: keep }: Rule, session: Session): Promise<{ readonly outcome: Outcome; readonly why: string }> {
  try {
    await keep(session);
    return { outcome: "kept", why: "" };
  } catch (error) {
    const why = error instanceof Error ? error.message.replaceAll(/\s+/g, " ") : String(error);
    return { outcome: error instanceof Unmet ? "not asked" : "broken", why };
  }
}
