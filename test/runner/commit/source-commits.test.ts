import { expect, it } from "vitest";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import { LimitExceeded, Unavailable } from "../../../domain/errors.ts";
import type { CommitStore } from "../../../runner/commit/ports.ts";
import { SourceCommits } from "../../../runner/commit/source-commits.ts";
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

function commitsWith(append: (commit: string) => "stored" | "refused"): { readonly commits: SourceCommits; readonly seen: string[] } {
  const seen: string[] = [];
  const store: CommitStore = {
    end: () => Promise.resolve(),
    endDeleted: () => Promise.resolve(),
    last: async () => ({ commit: undefined, sequence: 0 }),
    append: async (_owner, _source, commit) => {
      seen.push(commit);
      return append(commit) === "stored" ? { outcome: "stored", sequence: seen.length } : { outcome: "refused" };
    },
  };
  return { commits: new SourceCommits(deployment.source, deployment.owner, store), seen };
}

it("stores an error instead of a commit that is too large for NATS", async () => {
  const { commits, seen } = commitsWith((commit) => {
    if (commit.length > 1_000) throw new LimitExceeded("a message of 2000 bytes is larger than max_payload of NATS");
    return "stored";
  });
  const stored = await commits.append(commitOf("x".repeat(2_000)), (error) => commitOf("", error));
  expect(stored?.error).toMatchObject({ code: "commit_too_large", message: expect.stringContaining("max_payload") as string });
  expect(seen).toHaveLength(2);
});

it("takes the next replacement if the first does not fit either, and names no subject of NATS", async () => {
  const { commits } = commitsWith((commit) => {
    if (commit.length > 1_000)
      throw new LimitExceeded("a message of 2000 bytes on 'runs.3.u_1.dc_1' is larger than the max_payload of NATS");
    return "stored";
  });
  const large = commitOf("x".repeat(2_000));
  const stored = await commits.append(
    large,
    () => large,
    (error) => commitOf("", error),
  );
  expect(stored?.error?.message).toContain(`${Buffer.byteLength(JSON.stringify(large))} bytes`);
  expect(stored?.error?.message).not.toContain("runs.");
});

it("sends the same commit again when it is not known whether it was stored, and reports a refusal", async () => {
  let failures = 2;
  const { commits, seen } = commitsWith(() => {
    failures -= 1;
    if (failures >= 0) throw new Unavailable("no answer");
    return "refused";
  });
  expect(await commits.append(commitOf("x"), (error) => commitOf("", error))).toBeUndefined();
  expect(new Set(seen).size).toBe(1);
  expect(seen).toHaveLength(3);
});
