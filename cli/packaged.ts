import module from "node:module";
import { run } from "./main.ts";

/** Entry of the npm package, which scripts/bundle-cli.ts bundles. */
module.enableCompileCache?.();
await run(process.argv.slice(2));
