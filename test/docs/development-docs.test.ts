import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyWalk, copyTree, readWalks, type Copy } from "../../scripts/walks.ts";

/** Pages of documentation count apart. */
const maxFiles: Readonly<Record<string, number>> = { "Add a field to a source": 4, "Add an endpoint": 3, "Add a kind": 5 };
const walks = await readWalks();

describe("docs/development.md", () => {
  it.each(Object.entries(maxFiles))('touches as few hand-written files as it promises in "%s"', (heading, max) => {
    const code = walks.find((walk) => walk.heading === heading)?.files.filter((file) => !file.endsWith(".md"));
    expect(code?.length).toBeGreaterThan(0);
    expect(code?.length).toBeLessThanOrEqual(max);
  });

  it("promises a number of files for each of its walks", () => {
    expect(walks.map(({ heading }) => heading).toSorted()).toEqual(Object.keys(maxFiles).toSorted());
  });
});

describe("a copy of the repository with the diffs of docs/development.md", () => {
  let copy: Copy;
  beforeAll(async () => {
    copy = await copyTree();
  });
  afterAll(() => copy.remove());

  it("compiles", async () => {
    for (const walk of walks) await applyWalk(walk, copy);
    await expect(copy.node("node_modules/typescript/bin/tsc", "-p", "tsconfig.json")).resolves.not.toThrow();
  }, 600_000);
});
