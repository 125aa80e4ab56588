import { applyWalk, copyTree, readWalks, type Walk } from "./walks.ts";

/**
 * `node scripts/prove-places.ts`: makes the changes that docs/development.md describes in a copy of the tree, and fails if one of them
 * touches more hand-written files than its section promises, or if types, generated files, format or tests fail.
 */
const walks = await readWalks();
const copy = await copyTree();
try {
  for (const walk of walks) {
    await applyWalk(walk, copy);
    console.log(`${walk.heading}: ${walk.files.length} files`);
    for (const file of walk.files) console.log(`  ${file}`);
  }
  const sources = walks.flatMap(({ files }) => files);
  await copy.node("scripts/generate.ts");
  await copy.node("node_modules/typescript/bin/tsc", "-p", "tsconfig.json");
  await copy.node("node_modules/oxfmt/bin/oxfmt", "--check", ...sources);
  await copy.node("node_modules/vitest/vitest.mjs", "run", ...testsOf(walks));
  console.log("types, generated files, format and tests pass");
} finally {
  await copy.remove();
}

/** The tests of the walks, and those that compare the kinds, the pages and the API with each other. */
function testsOf(all: readonly Walk[]): readonly string[] {
  const own = all.flatMap(({ files }) => files).filter((file) => file.endsWith(".test.ts"));
  return [...new Set(own), "test/crds", "test/integration/api/openapi.test.ts"];
}
