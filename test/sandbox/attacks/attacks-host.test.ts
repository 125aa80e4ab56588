import { openRange } from "./attack-range.ts";
import { testPoolThreads } from "./pool-threads.ts";

testPoolThreads(openRange(), [
  ["names", `for (let i = 0; i < 500; i++) __builtin("dns").promises.lookup("n" + i + ".invalid").catch(() => {});`],
]);
