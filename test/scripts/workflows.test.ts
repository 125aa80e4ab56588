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
  expect(steps.find(({ run }) => run === "npm test")?.env).toEqual({ HEADWATER_TEST_REQUIRE_TOOLS: "1" });
  const downloads = steps.filter(({ run }) => run?.includes("curl"));
  expect(downloads.length).toBeGreaterThan(0);
  for (const { run = "", env = {} } of downloads) {
    const sums = Object.entries(env).filter(([name]) => name.endsWith("_SHA256"));
    expect(sums).toHaveLength(run.match(/^get /gm)?.length ?? 0);
    for (const [name, sum] of sums) expect([sum.length, run.includes(`echo "$${name}  `)]).toEqual([64, true]);
    expect(run.match(/\| sha256sum --check$/gm)).toHaveLength(sums.length);
  }
});

it("ci.yml reads only", () => {
  for (const [, { permissions }] of jobsOf("ci.yml")) expect(permissions).toEqual({ contents: "read" });
});

it("release.yml lets one job sign, and another, which runs no code of the repository, write to it", () => {
  expect(Object.fromEntries(jobsOf("release.yml").map(([name, { permissions }]) => [name, permissions]))).toEqual({
    check: { contents: "read" },
    image: { contents: "read", packages: "write" },
    publish: { contents: "read", packages: "write", "id-token": "write" },
    page: { contents: "write" },
  });
  const page = jobsOf("release.yml").find(([name]) => name === "page")?.[1];
  expect(page?.steps.map(({ uses, run }) => (uses ?? run ?? "").split(/[@ ]/)[0])).toEqual(["actions/download-artifact", "gh"]);
});

it("release.yml leaves every step of a release to scripts/release, and to gh only the page", () => {
  const commands = jobsOf("release.yml").flatMap(([, { steps }]) => steps.flatMap(({ run }) => run ?? []));
  expect(commands.map((command) => command.trim().split(" ").slice(0, 5).join(" "))).toEqual([
    "npm run release -- check",
    "npm run check",
    "npm run release -- image",
    "npm run release -- publish",
    expect.stringMatching(/^gh release create/),
  ]);
  const inputs = commands.filter((command) => /\$\{\{/.test(command));
  expect(inputs).toEqual([]);
});

it("runs only scripts of package.json", () => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  const run = names.flatMap((name) => [...textOf(name).matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script ?? ""));
  expect(run.filter((script) => scripts[script] === undefined)).toEqual([]);
});
