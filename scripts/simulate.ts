import { parseArgs } from "node:util";
import { simulate } from "../test/simulation/simulate.ts";

/**
 * `npm run simulate -- [--hours 24] [--seed 1] [--log]`: simulates the runner and delivery roles with faults, in histories of 20 minutes, each by a
 * seed of its own, for so many simulated hours. Prints each history that breaks a promise, and how much was simulated. `--log` prints what
 * happens in the history of the seed, and nothing else.
 */
const { values } = parseArgs({ options: { hours: { type: "string" }, seed: { type: "string" }, log: { type: "boolean" } } });
const minutes = 20;
/** A history also has the time in which everything heals. */
const historyMinutes = minutes + 4;
const first = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const histories = values.hours === undefined ? 1 : Math.ceil((Number(values.hours) * 60) / historyMinutes);
if (!Number.isSafeInteger(first) || !Number.isSafeInteger(histories) || histories < 1) {
  console.error("usage: npm run simulate -- [--hours NUMBER] [--seed INTEGER] [--log]");
  process.exit(2);
}

const cpuHours = (): number => (process.cpuUsage().user + process.cpuUsage().system) / 3.6e9;
const faults: Record<string, number> = {};
let [failed, commits] = [0, 0];
for (let seed = first; seed < first + histories; seed++) {
  const history = await simulate({ seed, minutes, ...(values.log === true ? { onLog: (line) => console.log(line) } : {}) });
  for (const [kind, count] of Object.entries(history.faults)) faults[kind] = (faults[kind] ?? 0) + count;
  commits += history.commits;
  if (history.violations.length > 0) {
    failed++;
    console.log(`✗ seed ${seed}: ${history.violations.slice(0, 5).join("; ")} (${history.violations.length} in all)`);
  }
  if ((seed - first) % 50 === 49)
    console.log(`${(((seed - first + 1) * historyMinutes) / 60).toFixed(0)} hours simulated, ${failed} histories failed`);
}
const hours = (histories * historyMinutes) / 60;
console.log(
  `faults: ${Object.entries(faults)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(", ")}`,
);
console.log(
  `${hours.toFixed(1)} simulated hours (${(hours / cpuHours()).toFixed(0)} in an hour of CPU), seeds ${first} to ${first + histories - 1}, ${commits} commits`,
);
console.log(`${histories - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
