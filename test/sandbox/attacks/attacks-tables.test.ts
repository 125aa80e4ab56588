import { testAttacks } from "./attack-table.ts";
import { attackClasses } from "./tables/index.ts";

/** Each of their attacks computes for seconds. */
const costly = ["what is interrupted late or never, again", "a hundred thousand requests of one run"];

/** The first attack of each class but these; attacks-tables.full.test.ts runs all. */
const first = attackClasses.filter(({ title }) => !costly.includes(title)).map((each) => ({ ...each, attacks: each.attacks.slice(0, 1) }));
testAttacks(first.filter(({ costsProcess = false }) => !costsProcess));
testAttacks(
  first.filter(({ costsProcess = false }) => costsProcess),
  { timeLimits: { disposeMs: 250 } },
);
