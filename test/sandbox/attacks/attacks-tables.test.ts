import { testAttackClasses } from "./attack-table.ts";
import { attackClasses } from "./tables/index.ts";

/** Each of their attacks computes for seconds. */
const costly = ["what is never interrupted", "what is interrupted late or never, again", "masses of requests of one run"];

/** The first attack of each class but these; attacks-tables.full.test.ts runs all. */
const first = attackClasses.filter(({ title }) => !costly.includes(title)).map((each) => ({ ...each, attacks: each.attacks.slice(0, 1) }));
testAttackClasses(first);
