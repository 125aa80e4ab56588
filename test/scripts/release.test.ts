import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findPlatformProblems } from "../../scripts/release/native-modules.ts";
import { planVersionProblems, readVersions } from "../../scripts/release/versions.ts";
import { chartVersion, findProgram, helm } from "../support/helm.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const root = join(import.meta.dirname, "../..");
const program = findProgram("helm");
const why = program === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : "";

describe.skipIf(program === undefined)(`npm run release${why}`, () => {
  let directory: TemporaryDirectory;
  beforeAll(async () => {
    directory = await temporaryDirectory("release");
  });
  afterAll(() => directory.remove());

  const release = (...args: readonly string[]) => {
    const env = { ...process.env, PATH: `${dirname(program ?? "")}${delimiter}${process.env["PATH"] ?? ""}` };
    return promisify(execFile)(process.execPath, [join(root, "scripts/release.ts"), ...args, "--out", directory.path], { cwd: root, env });
  };

  it("writes the chart's archive and the text of the release's page", async () => {
    await release();
    const archive = `headwater-${chartVersion()}.tgz`;
    expect((await readdir(directory.path)).toSorted()).toEqual(["CHANGES.md", archive]);
    expect((await helm(["show", "chart", join(directory.path, archive)])).stdout).toContain(`appVersion: ${chartVersion()}\n`);
    expect(await readFile(join(directory.path, "CHANGES.md"), "utf8")).toContain("### Added");
  });

  it("refuses a tag that is not the version's", async () => {
    await expect(release("--tag", "v9.9.9")).rejects.toThrow(`tag v9.9.9 is invalid: the tag of this source is v${chartVersion()}`);
  });
});

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
