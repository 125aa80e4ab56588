import type { Commit } from "../../domain/run/commit.ts";
import { readCommit } from "../../domain/run/read-commit.ts";
import type { Log } from "../ports.ts";

/** The commit of a message; undefined for one that cannot be routed or recorded, which would hold up those of everybody behind it. */
export function commitOf(text: string, subject: string, log: Log): Commit | undefined {
  const commit = readCommit(text, subject);
  if (commit === undefined) log.warn({ op: "commit.read", subject }, "a commit that is not what its subject says is left out");
  return commit;
}
