import { openRange } from "./attack-range.ts";
import { moreEndless, smallLimits, testEndless } from "./endless.ts";

testEndless(openRange({ timeLimits: smallLimits }), moreEndless);
