import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { findProgram } from "../support/helm.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

/** Runs the steps of the workflow with programs that record how they are called in place of docker and cosign, and of `helm push`. */
const root = join(import.meta.dirname, "../..");
const helm = findProgram("helm");
const suite = helm === undefined ? describe.skip : describe;
const execute = promisify(execFile);
const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const statement = z.object({
  subject: z.array(z.object({ name: z.string(), digest: z.object({ sha256: z.string() }) })),
  predicate: z.object({
    runDetails: z.object({ builder: z.object({ id: z.string() }), metadata: z.object({ invocationId: z.string() }) }),
  }),
});

suite(
  `the publication of a release${helm === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : ""}`,
  () => {
    let directory: TemporaryDirectory;

    beforeAll(async () => {
      directory = await temporaryDirectory("publication");
      await mkdir(join(directory.path, "bin"));
      const record = `echo "$(basename "$0") $*" >> "${directory.path}/calls"`;
      await program(
        "docker",
        `${record}
for argument in "$@"; do case "$argument" in
  --metadata-file=*) echo '{"containerimage.digest": "${digest("b")}"}' > "\${argument#*=}" ;;
  --password-stdin) cat > "${directory.path}/password" ;;
  inspect) echo "${digest("c")}" ;;
esac; done`,
      );
      await program("cosign", record);
      // Pushes to the registry on loopback are real.
      await program("helm", `case "$*" in *ghcr.io*) ${record} ;; *) exec "${helm}" "$@" ;; esac`);
    });
    afterAll(() => directory.remove());

    const program = async (name: string, script: string): Promise<void> => {
      await writeFile(join(directory.path, "bin", name), `#!/bin/sh\n${script}\n`);
      await chmod(join(directory.path, "bin", name), 0o755);
    };
    /** Runs a step and returns the calls that it made. */
    const release = async (...args: readonly string[]): Promise<readonly string[]> => {
      await writeFile(join(directory.path, "calls"), "");
      const env = {
        ...process.env,
        PATH: `${join(directory.path, "bin")}:${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
        GITHUB_REPOSITORY: "Example/Headwater",
        GITHUB_ACTOR: "releaser",
        GITHUB_RUN_ID: "7",
        GITHUB_OUTPUT: join(directory.path, "output"),
        REGISTRY_TOKEN: "a-token",
      };
      await execute(process.execPath, [join(root, "scripts/release.ts"), ...args], { cwd: root, env });
      return (await readFile(join(directory.path, "calls"), "utf8")).trim().split("\n");
    };

    it("builds the image of a platform, pushes it by digest and hands the digest on", async () => {
      const [login, create, build, ...more] = await release("image", "linux/arm64");
      expect(login).toBe("docker login ghcr.io --username=releaser --password-stdin");
      expect(await readFile(join(directory.path, "password"), "utf8")).toBe("a-token");
      expect(create).toBe("docker buildx create --use --driver=docker-container");
      expect(build).toMatch(/^docker buildx build --platform=linux\/arm64 .*name=ghcr\.io\/example\/headwater,push-by-digest=true/);
      expect(more).toEqual([]);
      expect(await readFile(join(directory.path, "output"), "utf8")).toBe(`digest-arm64=${digest("b")}\n`);
    });

    it("tags both platforms, pushes the chart, then signs and attests both by digest", async () => {
      const out = join(directory.path, "out");
      const [, create, inspect, push, ...cosign] = await release("publish", "--image", digest("a"), "--image", digest("b"), "--out", out);
      const { version } = z.object({ version: z.string() }).parse(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
      const name = "ghcr.io/example/headwater";
      expect(create).toBe(`docker buildx imagetools create --tag=${name}:${version} ${name}@${digest("a")} ${name}@${digest("b")}`);
      expect(inspect).toContain(`docker buildx imagetools inspect ${name}:${version}`);
      expect(push).toBe(`helm push ${out}/headwater-${version}.tgz oci://${name}/charts`);

      const { subject, predicate } = statement.parse(JSON.parse(await readFile(join(out, "provenance.intoto.json"), "utf8")));
      expect(subject.map((each) => each.name)).toEqual([`${name}/charts/headwater`, `headwater-${version}.tgz`, name]);
      expect(predicate.runDetails.builder.id).toBe("https://github.com/actions/runner/github-hosted");
      expect(predicate.runDetails.metadata.invocationId).toBe("https://github.com/Example/Headwater/actions/runs/7/attempts/1");

      const [image, chart] = [`${name}@${digest("c")}`, `${name}/charts/headwater@sha256:${subject[0]?.digest.sha256}`];
      expect(subject[2]?.digest.sha256).toBe("c".repeat(64));
      expect(cosign).toEqual([
        `cosign sign --yes ${image}`,
        `cosign sign --yes ${chart}`,
        `cosign attest --yes --type=cyclonedx --predicate=${out}/sbom.cdx.json ${image}`,
        `cosign attest --yes --type=slsaprovenance1 --predicate=${out}/provenance.predicate.json ${image}`,
        `cosign attest --yes --type=slsaprovenance1 --predicate=${out}/provenance.predicate.json ${chart}`,
      ]);
    });

    it("refuses to publish without the digest of each platform, and publishes nothing", async () => {
      await expect(release("publish", "--image", digest("a"))).rejects.toThrow(
        "give the digest sha256:… of each of linux/amd64 and linux/arm64",
      );
      expect(await readFile(join(directory.path, "calls"), "utf8")).toBe("");
    });
  },
);
