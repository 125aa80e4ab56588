import { describe, expect, it, onTestFinished } from "vitest";
import { applyWalk, copyTree, readWalks } from "../../scripts/walks.ts";

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

it("the diffs of docs/development.md apply", async () => {
  const copy = await copyTree(walks.flatMap(({ files }) => files));
  onTestFinished(() => copy.remove());
  for (const walk of walks) await expect(applyWalk(walk, copy)).resolves.not.toThrow();
});
