import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { installPackages, type InstallOrder } from "./install-packages.ts";

/** The descriptor on which it answers. */
const answerDescriptor = 3;

/**
 * Reads an `InstallOrder` as one line of JSON and writes an `InstallAnswer`. Runs in its own process, which can be killed at any time: npm's
 * libraries hold a package's metadata in memory, a few megabytes of which can mean hundreds of thousands of files, and they cannot be
 * interrupted. It ends with its parent, which keeps standard input open.
 */
const input = createInterface({ input: process.stdin });
input.once("line", (line) => {
  // The builder wrote it.
  void installPackages(JSON.parse(line) as InstallOrder).then((answer) => {
    writeFileSync(answerDescriptor, JSON.stringify(answer));
    process.exit();
  });
});
input.once("close", () => process.exit(1));
