import { expect, it } from "vitest";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import { LimitExceeded, Unavailable } from "../../../domain/errors.ts";
import { appendFitting } from "../../../runner/commit/append.ts";
import { History } from "../../../runner/commit/source-commits.ts";
import type { Histories } from "../../../runner/ports.ts";
import { deployment } from "../support.ts";

const commitOf = (result: string, error: Commit["error"] = null): Commit => ({
  source: deployment.source,
  owner: deployment.owner,
  deployment: deployment.id,
  run: { id: "r_1", trigger: "manual", generation: 1, startedAt: 1, durationMs: 1, cpuMs: 1, result },
  events: [],
  logs: [],
  error,
  state: emptyState,
});

function historyWith(append: (commit: string) => "stored" | "refused"): { readonly history: History; readonly seen: string[] } {
  const seen: string[] = [];
  const histories: Histories = {
    last: async () => ({ commit: undefined, sequence: 0 }),
    append: async (_owner, _source, commit) => {
      seen.push(commit);
      return append(commit) === "stored" ? { outcome: "stored", sequence: seen.length } : { outcome: "refused" };
    },
  };
  return { history: new History(deployment.source, deployment.owner, histories), seen };
}

it("stores, instead of a commit that the server does not take, one that says so", async () => {
  const { history, seen } = historyWith((commit) => {
    if (commit.length > 1_000) throw new LimitExceeded("a message of 2000 bytes is larger than the message server's max_payload");
    return "stored";
  });
  const stored = await appendFitting(history, commitOf("x".repeat(2_000)), (error) => commitOf("", error));
  expect(stored?.error).toMatchObject({ code: "commit_too_large", message: expect.stringContaining("max_payload") as string });
  expect(seen).toHaveLength(2);
});

it("sends the same again when it is not known whether it was stored, and tells of a refusal", async () => {
  let failures = 2;
  const { history, seen } = historyWith(() => {
    failures -= 1;
    if (failures >= 0) throw new Unavailable("no answer");
    return "refused";
  });
  expect(await appendFitting(history, commitOf("x"), (error) => commitOf("", error))).toBeUndefined();
  expect(new Set(seen).size).toBe(1);
  expect(seen).toHaveLength(3);
});
