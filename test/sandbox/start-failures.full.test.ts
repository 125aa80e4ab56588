import { modes, obstacles, openCache, testStartFailures } from "./start-obstacles.ts";

testStartFailures(
  obstacles.slice(1).map(([name, obstruct]) => ({ ...modes[0], name, obstruct })),
  openCache(),
);
