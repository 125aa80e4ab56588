import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** A command that takes a shell script and runs it where the processes of the control plane are, such as `docker exec NODE sh -c`. */
export const nodeShell = process.env["HEADWATER_TEST_NODE_SHELL"];

/** Runs a script on the cluster's node. */
export async function onNode(script: string, timeout = 60_000): Promise<void> {
  await promisify(execFile)("sh", ["-c", `${nodeShell ?? "false"} "$0"`, script], { timeout });
}
