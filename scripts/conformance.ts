import { parseArgs } from "node:util";
import type { Rule } from "./conformance/rule.ts";
import { rules } from "./conformance/rules.ts";
import { Session, Unmet } from "./conformance/session.ts";

/**
 * `npm run conformance -- --url http://127.0.0.1:3000/v1 --key <API key>`: asks a server of this interface, ours or another, what the
 * specification promises, and prints a table. What it makes it removes again; its names begin with `conformance-`.
 */
type Outcome = "kept" | "broken" | "not asked";

const { values } = parseArgs({ options: { url: { type: "string" }, key: { type: "string" } } });
if (values.url === undefined || values.key === undefined) {
  console.error("--url (with /v1) and --key are needed: npm run conformance -- --url http://127.0.0.1:3000/v1 --key <API key>");
  process.exitCode = 2;
} else {
  process.exitCode = await run(new Session(values.url, values.key));
}

/** @returns 0 when every rule is kept */
async function run(session: Session): Promise<number> {
  const counts = { kept: 0, broken: 0, "not asked": 0 };
  const width = Math.max(...rules.map(({ name }) => name.length));
  try {
    for (const rule of rules) {
      const { outcome, why } = await judge(rule, session);
      counts[outcome] += 1;
      console.log(`${outcome.padEnd(9)} | ${rule.about.padEnd(27)} | ${rule.name.padEnd(width)} |${why === "" ? "" : ` ${why}`}`);
    }
  } finally {
    await session.clean();
  }
  console.log(`${counts.kept} of ${rules.length} rules are kept, ${counts.broken} are broken, ${counts["not asked"]} could not be asked`);
  return counts.kept === rules.length ? 0 : 1;
}

async function judge({ check }: Rule, session: Session): Promise<{ readonly outcome: Outcome; readonly why: string }> {
  try {
    await check(session);
    return { outcome: "kept", why: "" };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { outcome: error instanceof Unmet ? "not asked" : "broken", why };
  }
}
