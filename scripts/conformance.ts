import { conformance } from "./conformance/command.ts";

process.exitCode = await conformance(process.argv.slice(2), { print: console.log, printError: console.error });
