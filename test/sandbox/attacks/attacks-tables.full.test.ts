import { testAttackClasses } from "./attack-table.ts";
import { attackClasses } from "./tables/index.ts";

testAttackClasses(attackClasses);
