import type { AttackClass } from "../attack-table.ts";
import { boundary } from "./boundary.ts";
import { containment } from "./containment.ts";
import { egress } from "./egress.ts";
import { exhaustion } from "./exhaustion.ts";
import { hostFloods } from "./floods.ts";
import { hoarding } from "./hoarding.ts";
import { host } from "./host.ts";

export const attackClasses: readonly AttackClass[] = [
  ...containment,
  ...boundary,
  ...egress,
  ...exhaustion,
  ...hoarding,
  ...host,
  ...hostFloods,
];
