import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyWalk, copyTree, readWalks, type Copy } from "../../scripts/walks.ts";

describe("a copy of the repository with the diffs of docs/development.md", () => {
  let copy: Copy;
  beforeAll(async () => {
    copy = await copyTree();
  });
  afterAll(() => copy.remove());

  it("compiles", async () => {
    for (const walk of await readWalks()) await applyWalk(walk, copy);
    await expect(copy.node("node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--checkers", "2")).resolves.not.toThrow();
  });
});
