import { checks, runChecks, unusedCode } from "./checks.ts";

/** `npm run check`: all checks of the source. They need no running system. */
const { failures } = await runChecks([...checks, unusedCode]);
for (const { output } of failures) console.log(output);
process.exitCode = failures.length === 0 ? 0 : 1;
