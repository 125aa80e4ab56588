import { testAttacks } from "./attack-table.ts";
import { attackClasses } from "./tables/index.ts";

/** The first attack of each class; attacks-tables.full.test.ts runs all. */
testAttacks(attackClasses.map((each) => ({ ...each, attacks: each.attacks.slice(0, 1) })));
