import { spawn } from "node:child_process";
import { once } from "node:events";
import type { OfflineContext } from "../context.ts";

/** The program that opens addresses on this system; where there is none, the printed address has to do. */
export async function openInBrowser(url: string, { out, env }: Pick<OfflineContext, "out" | "env">): Promise<void> {
  const programs: Readonly<Record<string, readonly string[]>> = { darwin: ["open"], win32: ["cmd", "/c", "start", ""] };
  const [program = "xdg-open", ...args] = env["BROWSER"] === undefined ? (programs[process.platform] ?? []) : [env["BROWSER"]];
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
  const isStarted = await Promise.race([once(child, "spawn").then(() => true), once(child, "error").then(() => false)]);
  if (isStarted) child.unref();
  else out.note("hw: no browser was found");
}
