import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./checks.ts";
import { findPlatformProblems } from "./release/native-modules.ts";
import { planVersionProblems, readChanges, readVersions } from "./release/versions.ts";

/**
 * `npm run release [-- --tag v1.2.3] [--out FOLDER]` checks whether this source can be released, and writes the chart's archive and the text of the
 * release's page. The workflow of releases builds the image and publishes, signs and attests both.
 */
const { values } = parseArgs({
  options: { tag: { type: "string" }, out: { type: "string", default: join(root, ".headwater", "release") } },
});

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const stated = await readVersions(root);
  const problems = [...planVersionProblems(stated, values.tag), ...(await findPlatformProblems(root))];
  if (problems.length > 0) throw new Error(`this source cannot be released:\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
  const version = stated.versions["package.json"] ?? "";
  await mkdir(values.out, { recursive: true });
  packageChart();
  await writeFile(join(values.out, "CHANGES.md"), await readChanges(root, version));
  console.log(`version ${version} can be released: ${values.out} has its chart and CHANGES.md`);
}

/** @throws with Helm's message */
function packageChart(): void {
  const args = ["package", join(root, "charts/headwater"), "--destination", values.out];
  const { status, stderr, error } = spawnSync("helm", args, { encoding: "utf8" });
  if (error !== undefined) throw new Error("helm could not be started: install it, or add it to PATH", { cause: error });
  if (status !== 0) throw new Error(`helm package failed with exit code ${status}: ${stderr.trim()}`);
}
