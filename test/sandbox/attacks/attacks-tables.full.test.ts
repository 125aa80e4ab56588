import { testAttacks } from "./attack-table.ts";
import { attackClasses } from "./tables/index.ts";

testAttacks(attackClasses);
