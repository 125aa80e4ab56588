import { appendFile, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { writeArtifacts, type Artifacts } from "./artifacts.ts";
import { pushChart } from "./chart.ts";
import { isDigest, type Digest } from "./digest.ts";
import { chartParent, imageRepository, type Platform, type Release } from "./release.ts";
import { describeCommand, command, run, type Command } from "./run.ts";

const source = "org.opencontainers.image.source";
const revision = "org.opencontainers.image.revision";

/** Builds the image for one platform and pushes it without a tag: only the digest names it until the release is complete. */
export function planImage(release: Release, platform: Platform, metadata: string): readonly Command[] {
  const name = imageRepository(release);
  const labels = { [source]: `https://github.com/${release.repository}`, [revision]: release.commit };
  return [
    command("docker", "buildx", "create", "--use", "--driver=docker-container"),
    command(
      "docker",
      "buildx",
      "build",
      `--platform=${platform}`,
      `--build-arg=SOURCE_DATE_EPOCH=${release.committedAt}`,
      ...Object.entries(labels).map(([label, value]) => `--label=${label}=${value}`),
      `--label=org.opencontainers.image.version=${release.version}`,
      // cosign attaches them to the index of both platforms.
      "--provenance=false",
      "--sbom=false",
      `--output=type=image,name=${name},push-by-digest=true,name-canonical=true,push=true`,
      `--metadata-file=${metadata}`,
      ".",
    ),
  ];
}

/** The index of both platforms gets the version as its tag. */
export function planIndex(release: Release, images: readonly Digest[]): { readonly create: Command; readonly inspect: Command } {
  const name = imageRepository(release);
  const tag = `${name}:${release.version}`;
  return {
    create: command("docker", "buildx", "imagetools", "create", `--tag=${tag}`, ...images.map((digest) => `${name}@${digest}`)),
    inspect: command("docker", "buildx", "imagetools", "inspect", tag, "--format={{.Manifest.Digest}}"),
  };
}

/** Pushes the chart, signs image and chart, and attaches the SBOM and the provenance. Everything is named by its digest. */
export function planPublication(release: Release, artifacts: Artifacts, imageDigest: Digest): readonly Command[] {
  const image = `${imageRepository(release)}@${imageDigest}`;
  const chart = `${chartParent(release)}/headwater@${artifacts.chartDigest}`;
  const attest = (type: string, predicate: string, subject: string): Command =>
    command("cosign", "attest", "--yes", `--type=${type}`, `--predicate=${predicate}`, subject);
  return [
    pushChart(artifacts.chartArchive, chartParent(release)),
    command("cosign", "sign", "--yes", image),
    command("cosign", "sign", "--yes", chart),
    attest("cyclonedx", artifacts.sbom, image),
    attest("slsaprovenance1", artifacts.predicate, image),
    attest("slsaprovenance1", artifacts.predicate, chart),
  ];
}

/** docker, helm and cosign share docker's login. */
async function signIn(env: NodeJS.ProcessEnv): Promise<void> {
  const { GITHUB_ACTOR: user, REGISTRY_TOKEN: token } = env;
  if (user === undefined || token === undefined) throw new Error("GITHUB_ACTOR and REGISTRY_TOKEN are not set: they sign in to ghcr.io");
  await run(command("docker", "login", "ghcr.io", `--username=${user}`, "--password-stdin"), { input: token });
}

/** Publishes the image of one platform, and hands its digest to the next jobs of the workflow. */
export async function publishImage(release: Release, platform: Platform, env: NodeJS.ProcessEnv): Promise<Digest> {
  await signIn(env);
  const metadata = join(tmpdir(), `headwater-image-${process.pid}.json`);
  await runAll(planImage(release, platform, metadata), release.root);
  const { "containerimage.digest": digest } = z
    .object({ "containerimage.digest": z.string() })
    .parse(JSON.parse(await readFile(metadata, "utf8")));
  if (!isDigest(digest)) throw new Error(`docker reported the digest "${digest}": it must be sha256:…`);
  const output = env["GITHUB_OUTPUT"];
  if (output !== undefined) await appendFile(output, `digest-${platform.replace("linux/", "")}=${digest}\n`);
  return digest;
}

/** Publishes the release from the images of its platforms. */
export async function publish(release: Release, images: readonly Digest[], folder: string, env: NodeJS.ProcessEnv): Promise<Artifacts> {
  await signIn(env);
  const { create, inspect } = planIndex(release, images);
  await runAll([create], release.root);
  const imageDigest = (await run(inspect)).trim();
  if (!isDigest(imageDigest)) throw new Error(`docker reported the digest "${imageDigest}": it must be sha256:…`);
  const artifacts = await writeArtifacts(release, folder, [{ name: imageRepository(release), digest: imageDigest }]);
  await runAll(planPublication(release, artifacts, imageDigest), release.root);
  return artifacts;
}

async function runAll(commands: readonly Command[], cwd: string): Promise<void> {
  for (const each of commands) {
    console.log(`> ${describeCommand(each)}`);
    await run(each, { cwd });
  }
}
