import { readFile } from "node:fs/promises";
import { replaceFile } from "../isolate/replace-file.ts";
import { makeCaches } from "../isolate/prelude.ts";
import { cachePath } from "./code-caches.ts";

/** The program of the process that makes the code caches: `cache-maker.mjs WEB_SCRIPT NODE_SCRIPT`. */
const [webPath = "", nodePath = ""] = process.argv.slice(2);
const caches = await makeCaches(await readFile(webPath, "utf8"), await readFile(nodePath, "utf8"));
await replaceFile(cachePath(webPath), caches.web);
await replaceFile(cachePath(nodePath), caches.node);
