import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { GuestScripts } from "../isolate/guest-scripts.ts";
import { isolateCommand } from "./isolate-command.ts";

const timeoutMs = 60_000;

/** Where V8's code cache of a guest script is stored. */
export const cachePath = (scriptPath: string): string => `${scriptPath}.${process.versions.v8}-${process.arch}.cache`;

/**
 * Makes V8's code caches of the guest's scripts, unless they exist. V8 executes what a cache says without checks, and every child loads
 * these, so a process of its own makes them: it ends before any user code runs, and children cannot write them.
 *
 * @param program see cache-maker.ts
 */
export async function makeCodeCaches(program: string, { webPath, nodePath }: GuestScripts, readable: readonly string[]): Promise<void> {
  if ([webPath, nodePath].every((path) => existsSync(cachePath(path)))) return;
  const [node, ...args] = isolateCommand(program, readable, [dirname(webPath)]);
  await promisify(execFile)(node, [...args, webPath, nodePath], { env: {}, timeout: timeoutMs });
}
