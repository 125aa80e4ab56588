import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chart, findProgram, render, renderObjects } from "../support/helm.ts";
import { podMistakes, workloadKinds } from "../support/pod-rules.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const missing = findProgram("helm") === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : "";
const linter = findProgram("kube-linter");
const noLinter = linter === undefined ? " (skipped: kube-linter is not on PATH)" : "";
const root = join(chart, "..", "..");
const files = globSync(join(import.meta.dirname, "values-*.yaml")).toSorted();
/** Values for high availability are used on top of the chart's. */
const flagsOf = (file: string): readonly string[] => [
  ...(basename(file) === "values-ha.yaml" ? ["--values", join(chart, "values-ha.yaml")] : []),
  "--values",
  file,
];
const cases: readonly (readonly [string, readonly string[]])[] = [
  ["default values", []],
  ["backups", ["--set", "backup.enabled=true"]],
  ...files.map((file) => [basename(file), flagsOf(file)] as const),
];

describe.skipIf(missing !== "")(`pods of the chart${missing}`, () => {
  it.each(cases)("are restricted, limited and probed with %s", async (_name, flags) => {
    const objects = (await renderObjects(...flags)).filter(({ kind }) => workloadKinds.includes(kind));
    expect(objects.length).toBeGreaterThan(5);
    expect(objects.flatMap(podMistakes)).toEqual([]);
  });

  it("are checked by rules that find mistakes", async () => {
    const flags = ["--set", "image.tag=latest,api.resources.limits=null,nats.image=nats,delivery.pod.hostNetwork=true"];
    const mistakes = (await renderObjects(...flags)).filter(({ kind }) => workloadKinds.includes(kind)).flatMap(podMistakes);
    const found = (object: string, path: string): boolean =>
      mistakes.some((line) => line.startsWith(`${object}: spec.template.spec.${path}`));
    expect(found("Deployment headwater-api", "containers.0.resources.limits")).toBe(true);
    expect(found("Deployment headwater-builder", "containers.0.image")).toBe(true);
    expect(found("StatefulSet headwater-nats", "containers.0.image")).toBe(true);
    expect(found("Deployment headwater-delivery", "hostNetwork")).toBe(true);
  });
});

describe.skipIf(missing + noLinter !== "")(`kube-linter${missing || noLinter}`, () => {
  let directory: TemporaryDirectory;
  beforeAll(async () => {
    directory = await temporaryDirectory("lint");
  });
  afterAll(() => directory.remove());

  it("finds nothing with any of these values but what .kube-linter.yaml explains", async () => {
    for (const [name, flags] of cases) await writeFile(join(directory.path, `${name}.yaml`), await render(...flags));
    const output = await new Promise<string>((resolve) => {
      const args = ["lint", "--config", join(root, ".kube-linter.yaml"), "--format", "plain", directory.path];
      execFile(linter ?? "", args, { cwd: root }, (_error, stdout, stderr) => resolve(stdout + stderr));
    });
    expect(output).toContain("No lint errors found!");
  });
});
