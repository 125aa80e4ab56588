import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

/** The workflows of the host, which run what package.json and scripts/release have. */
const root = join(import.meta.dirname, "../..");
const folder = join(root, ".github/workflows");
const names = readdirSync(folder);
const textOf = (name: string): string => readFileSync(join(folder, name), "utf8");

const job = z.object({
  permissions: z.record(z.string(), z.enum(["read", "write"])),
  "timeout-minutes": z.number(),
  strategy: z.object({ matrix: z.record(z.string(), z.unknown()) }).optional(),
  steps: z.array(
    z.object({
      uses: z.string().optional(),
      run: z.string().optional(),
      with: z.record(z.string(), z.unknown()).optional(),
      env: z.record(z.string(), z.string()).optional(),
    }),
  ),
});
const workflow = z.object({ permissions: z.strictObject({}), jobs: z.record(z.string(), job) });
const jobsOf = (name: string) => Object.entries(workflow.parse(parse(textOf(name))).jobs);

it.each(names)("%s pins each action by the hash of a commit, with its version beside it", (name) => {
  const used = textOf(name).match(/uses: .*/g) ?? [];
  expect(used.length).toBeGreaterThan(0);
  for (const line of used) expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

it.each(names)("%s gives each job its own rights and a limit, and keeps no credentials in a checkout", (name) => {
  for (const [, { steps }] of jobsOf(name))
    for (const step of steps.filter(({ uses }) => uses?.startsWith("actions/checkout@")))
      expect(step.with).toEqual({ "persist-credentials": false });
});

it("ci.yml requires the programs of all tests, and verifies those that it downloads", () => {
  const steps = jobsOf("ci.yml").flatMap(([, { steps: own }]) => own);
  expect(steps.find(({ run }) => run === "npm $TESTS")?.env).toEqual({ HEADWATER_TEST_REQUIRE_TOOLS: "1", TESTS: "${{ matrix.tests }}" });
  const downloads = steps.filter(({ run }) => run?.includes("curl"));
  expect(downloads.length).toBeGreaterThan(0);
  for (const { run = "", env = {} } of downloads) {
    const sums = Object.entries(env).filter(([name]) => name.endsWith("_SHA256"));
    expect(sums).toHaveLength(run.match(/^get /gm)?.length ?? 0);
    for (const [name, sum] of sums) expect([sum.length, run.includes(`echo "$${name}  `)]).toEqual([64, true]);
    expect(run.match(/\| sha256sum --check$/gm)).toHaveLength(sums.length);
  }
});

it("ci.yml runs all tests: those of npm test, the others of npm run test:all, and those of npm run test:soak", () => {
  const tests = jobsOf("ci.yml").find(([name]) => name === "test")?.[1];
  expect(tests?.strategy?.matrix).toEqual({ tests: ["test", "run test:all -- --rest", "run test:soak"] });
});

it("ci.yml reads only", () => {
  for (const [, { permissions }] of jobsOf("ci.yml")) expect(permissions).toEqual({ contents: "read" });
});

it("release.yml lets no job that signs, or writes to the repository, run code of it", () => {
  const jobs = Object.fromEntries(jobsOf("release.yml"));
  expect(Object.fromEntries(Object.entries(jobs).map(([name, { permissions }]) => [name, permissions]))).toEqual({
    check: { contents: "read" },
    image: { contents: "read", packages: "write" },
    publish: { packages: "write", "id-token": "write", attestations: "write" },
    page: { contents: "write" },
  });
  for (const { steps } of [jobs["publish"], jobs["page"]].filter((each) => each !== undefined)) {
    expect(steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"))).toEqual([]);
    expect(steps.filter(({ run }) => /\b(?:npm|node)\b/.test(run ?? ""))).toEqual([]);
  }
});

it("release.yml gives the image an SBOM and provenance, and signs and attests image and chart by their digests", () => {
  const steps = jobsOf("release.yml").flatMap(([, { steps: own }]) => own);
  const using = (action: string) => steps.filter(({ uses }) => uses?.startsWith(`${action}@`)).map((step) => step.with ?? {});
  expect(using("docker/build-push-action")).toEqual([expect.objectContaining({ sbom: true, provenance: "mode=max" })]);
  expect(using("actions/attest").map((inputs) => inputs["subject-digest"])).toEqual([
    "${{ steps.image.outputs.digest }}",
    "${{ steps.chart.outputs.digest }}",
  ]);
  const signed = steps.flatMap(({ run }) => run?.match(/cosign sign .*/g) ?? []);
  expect(signed).toEqual(['cosign sign --yes "$IMAGE@$digest"', 'cosign sign --yes "$IMAGE/charts/headwater@$digest"']);
});

it.each(names)("%s puts no expression into a script, where it could end a quotation", (name) => {
  const commands = jobsOf(name).flatMap(([, { steps }]) => steps.flatMap(({ run }) => run ?? []));
  expect(commands.filter((command) => /\$\{\{/.test(command))).toEqual([]);
});

it("runs only scripts of package.json", () => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  const run = names.flatMap((name) => [...textOf(name).matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script ?? ""));
  expect(run.filter((script) => scripts[script] === undefined)).toEqual([]);
});
