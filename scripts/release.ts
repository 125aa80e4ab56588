import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./checks.ts";
import { writeArtifacts } from "./release/artifacts.ts";
import { isDigest, type Digest } from "./release/digest.ts";
import { findPlatformProblems } from "./release/native-modules.ts";
import { planImage, planIndex, planPublication, publish, publishImage } from "./release/publication.ts";
import { isPlatform, platforms, readRelease, type Release } from "./release/release.ts";
import { describeCommand } from "./release/run.ts";
import { planVersionProblems, readVersions } from "./release/versions.ts";

/**
 * `npm run release -- --dry-run [--tag v1.2.3] [--out FOLDER]` writes all artifacts but the image, and prints the commands of a
 * publication without running them. `check`, `image PLATFORM` and `publish --image DIGEST…` are for the workflow of releases.
 */
const usage = "npm run release -- --dry-run | check | image linux/amd64|linux/arm64 | publish --image DIGEST --image DIGEST";
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "dry-run": { type: "boolean", default: false },
    tag: { type: "string" },
    out: { type: "string", default: join(root, ".headwater", "release") },
    image: { type: "string", multiple: true, default: [] },
  },
});

try {
  await main(positionals);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function main([step, argument]: readonly string[]): Promise<void> {
  const release = await checked();
  if (values["dry-run"]) await dryRun(release);
  else if (step === "check") console.log(`version ${release.version} can be released`);
  else if (step === "image" && isPlatform(argument)) console.log(await publishImage(release, argument, process.env));
  else if (step === "publish") await publish(release, imageDigests(), values.out, process.env);
  else throw new Error(`what to do is missing: ${usage}`);
}

/** @throws with everything that keeps this source from being released */
async function checked(): Promise<Release> {
  const stated = await readVersions(root);
  const problems = [...planVersionProblems(stated, values.tag), ...(await findPlatformProblems(root))];
  if (problems.length > 0) throw new Error(`this source cannot be released:\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
  const { GITHUB_REPOSITORY: repository } = process.env;
  // A dry run is no run of the release workflow, also where a workflow starts it.
  const env = values["dry-run"] ? { GITHUB_REPOSITORY: repository } : process.env;
  return readRelease(root, stated.versions["package.json"] ?? "", env);
}

function imageDigests(): readonly Digest[] {
  const digests = values.image.filter(isDigest);
  if (digests.length === platforms.length && values.image.length === platforms.length) return digests;
  throw new Error(`--image ${values.image.join(" --image ")} is invalid: give the digest sha256:… of each of ${platforms.join(" and ")}`);
}

async function dryRun(release: Release): Promise<void> {
  const artifacts = await writeArtifacts(release, values.out, []);
  for (const file of Object.values(artifacts).filter((each) => !isDigest(each))) console.log(`wrote ${relative(process.cwd(), file)}`);
  console.log(`chart ${artifacts.chartDigest}\nA release would run:`);
  const unknown: Digest = "sha256:…";
  const { create, inspect } = planIndex(release, [unknown, unknown]);
  const images = platforms.flatMap((platform) => planImage(release, platform, "image.json"));
  for (const command of [...images, create, inspect, ...planPublication(release, artifacts, unknown)])
    console.log(`> ${describeCommand(command)}`);
}
