import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { hw, type World } from "./hw.ts";
import { exports, writeExport, zipFiles, zipOf } from "./import-exports.ts";

let directory: TemporaryDirectory;
let world: World;
beforeAll(async () => {
  directory = await temporaryDirectory("import");
  world = { directory: directory.path, env: { HOME: directory.path } };
});
afterAll(() => directory.remove());

interface Described {
  readonly name: string;
  readonly manifest: {
    readonly spec: {
      readonly active: boolean;
      readonly triggers: readonly object[];
      readonly steps: readonly Record<string, unknown>[];
      readonly settings?: object;
    };
  };
  readonly as_is: readonly string[];
  readonly tasks: readonly { readonly what: string; readonly why: string; readonly how: string; readonly required: boolean }[];
}

let count = 0;
const newPath = (): string => join(directory.path, `export-${count++}`);
const run = (...args: readonly string[]) => hw(world, ["import", "pipedream", ...args]);

async function describeExport(name: keyof typeof exports, answers?: string): Promise<Described> {
  const folder = await writeExport(newPath(), exports[name]);
  const file = newPath();
  if (answers !== undefined) await writeFile(file, answers);
  const { code, stdout, stderr } = await run(folder, "--dry-run", "-o", "json", ...(answers === undefined ? [] : ["--answers", file]));
  expect(code, stderr).toBe(0);
  const [described] = (JSON.parse(stdout) as { readonly data: readonly Described[] }).data;
  if (described === undefined) throw new Error("no workflow");
  return described;
}

const tasksOf = ({ tasks }: Described): readonly string[] => tasks.map(({ what, required }) => `${required ? "must" : "may"} ${what}`);

describe("hw import pipedream --dry-run", () => {
  it("takes over code, HTTP triggers and settings, and names variables to set", async () => {
    const described = await describeExport("greeting");
    const { spec } = described.manifest;
    expect(spec).toMatchObject({ active: true, triggers: [{ http: {} }], settings: { errorMails: false } });
    expect(spec.steps).toEqual([
      { name: "greet", code: exports.greeting["greeting-p_greeting1/greet/entry.js" as never], timeoutSeconds: 30 },
      { name: "answer", code: expect.stringContaining("$.respond"), timeoutSeconds: 30 },
    ]);
    expect(described.tasks).toEqual([
      { what: "variable GREETING", why: "read by greet", how: "hw variables set GREETING, with --secret if it is one", required: false },
    ]);
  });

  it.each([
    [
      "timer",
      "trigger ti_9",
      `triggers: { ti_9: { cron: "0 9 * * 1", timezone: Europe/Berlin } }`,
      { timer: { cron: "0 9 * * 1", timezone: "Europe/Berlin" } },
    ],
    ["timer", "trigger ti_9", "triggers: { ti_9: { interval_seconds: 60 } }", { timer: { intervalSeconds: 60 } }],
    ["source", "trigger dc_Zz9", "triggers: { dc_Zz9: { source: feed } }", { sourceRef: { name: "feed" } }],
    ["source", "trigger dc_Zz9", "triggers: { dc_Zz9: { source: dc_abc } }", { source: "dc_abc" }],
    ["email", "trigger ei_5", "triggers: { ei_5: { http: { custom_response: true } } }", { http: { customResponse: true } }],
  ] as const)("asks for what starts %s by %s, and takes the answer %s", async (name, what, answers, trigger) => {
    const open = await describeExport(name);
    expect([open.manifest.spec.active, open.manifest.spec.triggers, tasksOf(open)[0]]).toEqual([false, [], `must ${what}`]);
    const answered = await describeExport(name, answers);
    expect([answered.manifest.spec.active, answered.manifest.spec.triggers, answered.tasks]).toEqual([true, [trigger], []]);
  });

  it("names actions and accounts of the service as gaps, or takes those of the answers", async () => {
    const open = await describeExport("action");
    expect(tasksOf(open)).toEqual(["must step send", "must step send", "may variable SIGNATURE", "may workflow notify"]);
    expect(open.tasks.map(({ why }) => why).join()).toMatch(/account apn_OLD1.*action 'chat-send-message@0\.1\.2'/);
    expect(open.manifest.spec.steps).toEqual([{ name: "send", code: expect.stringContaining("step send is not moved") }]);
    const answered = await describeExport(
      "action",
      `accounts: { apn_OLD1: apn_new1 }\ncomponents: { chat-send-message: { url: "npm:chat@1.0.0#action/send" } }`,
    );
    expect(tasksOf(answered)).toEqual(["may variable SIGNATURE"]);
    expect(answered.manifest.spec.steps[0]).toMatchObject({
      url: "npm:chat@1.0.0#action/send",
      props: { chat: { authProvisionId: "apn_new1" } },
    });
  });

  it("takes components from where the answers say that they are, with the values that were chosen in lists", async () => {
    const at = "https://code.example/components/{app}/actions/{name}/{name}.mjs";
    const described = await describeExport("chosen", `components_at: ${at}`);
    expect(described.manifest.spec.steps).toEqual([
      {
        name: "add",
        url: "https://code.example/components/table_store/actions/add-row/add-row.mjs",
        props: { sheet: "id-1", columns: [0, "plain"], col_0000: "{{ steps.trigger.event.body.name }}" },
      },
    ]);
    expect([described.manifest.spec.active, tasksOf(described), described.tasks[0]?.why]).toEqual([
      true,
      ["may step add"],
      expect.stringContaining("table_store-add-row@2.1.2"),
    ]);
    expect(
      (await describeExport("action", `components_at: ${at}\ncomponents: { chat-send-message: { component_key: mine } }`)).manifest.spec
        .steps,
    ).toEqual([expect.objectContaining({ componentKey: "mine" })]);
  });

  it.each([
    ["commonJs", ["must step call", "may workflow older-code"], /account apn_OLD2/],
    ["languages", ["must step py", "must step go", "must step sh", "may workflow polyglot"], /Python.*Go.*bash/],
    ["store", ["must step count", "may workflow counter"], /data store ds_Q1/],
    ["inactive", ["may step drop", "may setting concurrency"], /disabled there/],
    ["flow", [], /^$/],
    [
      "broken",
      ["must step bare", "must step missing", "must step local", "may workflow not-an-export"],
      /exports nothing.*not in the export.*lib\/a\.js/,
    ],
  ] as const)("reports of %s: %j", async (name, tasks, why) => {
    const described = await describeExport(name);
    expect(tasksOf(described)).toEqual(tasks);
    expect(described.tasks.map((each) => each.why).join(" ")).toMatch(why);
    expect(described.manifest.spec.active).toBe(name === "flow");
  });

  it("gives a step the data store that the answers name", async () => {
    const described = await describeExport("store", "stores: { ds_Q1: ds_4f1kq0w9zn5a }");
    expect(described.manifest.spec.steps).toEqual([expect.objectContaining({ props: { store: { storeId: "ds_4f1kq0w9zn5a" } } })]);
    expect([described.manifest.spec.active, tasksOf(described)]).toEqual([true, []]);
  });

  it("shows report and manifests to people, and writes nothing", async () => {
    const folder = await writeExport(newPath(), { ...exports.greeting, ...exports.timer });
    const before = await readdir(directory.path);
    const { code, stdout } = await run(folder, "--dry-run");
    expect([code, await readdir(directory.path)]).toEqual([0, before]);
    expect(stdout).toContain("# Import of 2 workflows: 1 can run as they are");
    expect(stdout).toContain("- trigger ti_9: it is a timer, and the export does not say when.");
    expect(stdout.match(/^kind: Workflow$/gm)).toHaveLength(2);
  });
});

describe("hw import pipedream", () => {
  it("writes a manifest for each workflow and the report, and over files of an earlier import only with --yes", async () => {
    const archive = `${newPath()}.zip`;
    await writeFile(archive, zipFiles({ ...exports.greeting, ...exports.source }));
    const to = newPath();
    expect((await run(archive, "--to", to)).stdout).toMatch(/greeting\.yaml: runs as it is\n.*on-event\.yaml: 1 thing to do by hand/);
    expect((await readdir(to)).toSorted()).toEqual(["greeting.yaml", "on-event.yaml", "report.md"]);
    expect(await readFile(join(to, "report.md"), "utf8")).toContain("dc_Zz9");
    expect(await run(archive, "--to", to)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("greeting.yaml? needs a confirmation"),
    });
    expect((await run(archive, "--to", to, "--yes")).code).toBe(0);
  });

  it("refuses answers of another form with their field", async () => {
    const [folder, file] = [await writeExport(newPath(), exports.timer), newPath()];
    await writeFile(file, "triggers: { ti_9: { cron: '0 9 * * *', interval_seconds: 5 } }");
    expect(await run(folder, "--answers", file, "--dry-run")).toMatchObject({ code: 2, stderr: expect.stringContaining("triggers.ti_9") });
  });
});

describe("a hostile export", () => {
  const definition = { path: "a-p_1/workflow.yaml", content: Buffer.from("schema: workflow/2022.04\nname: a\n") };
  const zeros = (bytes: number): Buffer => Buffer.alloc(bytes);
  const deep = Array.from({ length: 12 }, (_, index) => `d${index}`).join("/");

  it.each([
    [
      "that unpacks to more than it states",
      [{ path: "a-p_1/x.js", content: zeros(1_000_000), bytes: 10 }],
      "unpacks to more than the 10 bytes",
    ],
    ["with a huge file", [{ path: "a-p_1/x.js", content: zeros(2_000_000) }], "a file has at most 1048576"],
    [
      "with too many bytes in all",
      Array.from({ length: 40 }, (_, index) => ({ path: `a-p_1/${index}`, content: zeros(1_000_000) })),
      "more than 33554432 bytes together",
    ],
    [
      "with too many files",
      Array.from({ length: 2_001 }, (_, index) => ({ path: `a-p_1/${index}`, content: zeros(0) })),
      "at most 2000 files",
    ],
    ["with a path that leads out", [{ path: "../../etc/cron.d/x", content: zeros(1) }], "'.' or '..'"],
    ["with an absolute path", [{ path: "/etc/passwd", content: zeros(1) }], "absolute"],
    ["with a path of Windows", [{ path: "a\\..\\..\\x", content: zeros(1) }], "backslash"],
    ["with a path that is too deep", [{ path: `${deep}/x`, content: zeros(1) }], "deep"],
    ["with a symbolic link", [{ path: "a-p_1/x.js", content: Buffer.from("/etc/passwd"), mode: 0o120777 }], "symbolic link"],
    ["with an encrypted file", [{ path: "a-p_1/x.js", content: zeros(1), flags: 1 }], "encrypted"],
    ["with one path twice", [{ path: "a-p_1/WORKFLOW.yaml", content: zeros(1) }], "another file has the same path"],
  ])("as an archive %s is refused", async (_, entries, problem) => {
    const archive = `${newPath()}.zip`;
    await writeFile(archive, zipOf([definition, ...entries]));
    expect(await run(archive, "--dry-run")).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
  });

  it.each([
    ["that is cut off", (whole: Buffer) => whole.subarray(0, whole.length - 30)],
    ["of other bytes", () => Buffer.from("no archive")],
    ["with a directory beyond its end", (whole: Buffer) => (whole.writeUInt32LE(0xfffffff0, whole.length - 6), whole)],
  ])("as an archive %s is refused", async (_, change) => {
    const archive = `${newPath()}.zip`;
    await writeFile(archive, change(zipOf([definition])));
    expect(await run(archive, "--dry-run")).toMatchObject({ code: 2, stderr: expect.stringMatching(/ZIP archive|broken/) });
  });

  it.each([
    ["aliases", "schema: workflow/2022.04\nname: a\na: &a [x, x]\nb: [*a, *a]\n", "YAML aliases"],
    ["another schema", "schema: workflow/2031.01\nname: a\n", "its schema is not"],
    ["broken YAML", "schema: [workflow", "not YAML"],
    ["too many characters", `name: "${"x".repeat(300_000)}"`, "at most 131072"],
    ["deep nesting", `schema: workflow/2022.04\nname: a\nsettings: ${"[".repeat(100_000)}`, "refused"],
    ["steps of another form", "schema: workflow/2022.04\nname: a\nsteps: [{ namespace: 5, uses: x }]\n", "steps.0.namespace"],
    ["a list", "- a\n", "refused"],
  ])("with a workflow.yaml of %s is refused", async (_, text, problem) => {
    const folder = await writeExport(newPath(), { "a-p_1/workflow.yaml": text });
    expect(await run(folder, "--dry-run")).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
  });

  it("with symbolic links in a folder, or as one, is refused", async () => {
    const folder = await writeExport(newPath(), exports.timer);
    await symlink("/etc/passwd", join(folder, "nightly-p_nightly1", "link.js"));
    expect(await run(folder, "--dry-run")).toMatchObject({ code: 2, stderr: expect.stringContaining("symbolic link") });
    const link = newPath();
    await symlink(folder, link);
    expect(await run(link, "--dry-run")).toMatchObject({ code: 2, stderr: expect.stringContaining("symbolic link") });
  });

  it("without any workflow is refused", async () => {
    const folder = await writeExport(newPath(), { "README.md": "" });
    expect(await run(folder)).toMatchObject({ code: 2, stderr: expect.stringContaining("no workflow.yaml is found") });
  });
});
