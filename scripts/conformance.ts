import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { publishingRules } from "./conformance/registry-rules.ts";
import { groups, type Group, type Rule } from "./conformance/rule.ts";
import { rules } from "./conformance/rules.ts";
import { Session, Unmet } from "./conformance/session.ts";

/**
 * `npm run conformance -- --url http://127.0.0.1:3000/v1 --key <API key>`: checks any server of this interface and
 * prints a table. Deletes what it creates; names begin with `conformance-`.
 *
 * With `--admin-token-file`, the token of Headwater's admin API, it also publishes components, and deletes them from the registry.
 *
 * `--only specification,clients` selects groups of rules. The rules of the specification always run, because the others use their resources.
 */
type Outcome = "kept" | "broken" | "not asked";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { url: text, key: text, only: text, "admin-token-file": text } });
const tokenFile = values["admin-token-file"];
const only = values.only?.split(",") ?? groups;
const unknown = only.filter((name) => !groups.some((group) => group === name));
if (values.url === undefined || values.key === undefined) {
  console.error("--url (with /v1) and --key are needed: npm run conformance -- --url http://127.0.0.1:3000/v1 --key <API key>");
  process.exitCode = 2;
} else if (unknown.length > 0) {
  console.error(`--only ${unknown.join()} is invalid: it takes ${groups.join(", ")}`);
  process.exitCode = 2;
} else {
  const chosen = groups.filter((group) => group === "specification" || only.includes(group));
  process.exitCode = await run(
    chosen,
    new Session(values.url, values.key, tokenFile === undefined ? undefined : (await readFile(tokenFile, "utf8")).trim()),
  );
}

/** @returns 0 when every rule is kept */
async function run(chosen: readonly Group[], session: Session): Promise<number> {
  const rulesOf = (group: Group): readonly Rule[] =>
    group === "headwater" && tokenFile !== undefined ? [...rules[group], ...publishingRules] : rules[group];
  const all = chosen.flatMap((group) => rulesOf(group).map((rule) => ({ group, rule })));
  const counts = { kept: 0, broken: 0, "not asked": 0 };
  const width = (of: (each: Rule) => string): number => Math.max(...all.map(({ rule }) => of(rule).length));
  const [abouts, names] = [width(({ about }) => about), width(({ name }) => name)];
  try {
    for (const { group, rule } of all) {
      const { outcome, why } = await judge(rule, session);
      counts[outcome] += 1;
      const row = [outcome.padEnd(9), group.padEnd(13), rule.about.padEnd(abouts), rule.name.padEnd(names)];
      console.log(`${row.join(" | ")} |${why === "" ? "" : ` ${why}`}`);
    }
  } finally {
    await session.clean();
  }
  console.log(`${counts.kept} of ${all.length} rules are kept, ${counts.broken} are broken, ${counts["not asked"]} could not be asked`);
  return counts.kept === all.length ? 0 : 1;
}

async function judge({ check }: Rule, session: Session): Promise<{ readonly outcome: Outcome; readonly why: string }> {
  try {
    await check(session);
    return { outcome: "kept", why: "" };
  } catch (error) {
    const why = error instanceof Error ? error.message.replaceAll(/\s+/g, " ") : String(error);
    return { outcome: error instanceof Unmet ? "not asked" : "broken", why };
  }
}
