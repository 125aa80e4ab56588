import { checks, runChecks, unusedCode } from "./checks.ts";

/** `npm run check`: everything about the source that needs no running system. */
const { failures } = await runChecks([...checks, unusedCode]);
process.exitCode = failures.length === 0 ? 0 : 1;
