import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bytesOfPart } from "../../../domain/files/file-url.ts";
import { Unavailable } from "../../../domain/errors.ts";
import { chargeOf, type FileChanges, type FileEntry, type RunFiles, type RunOfFiles } from "../../../domain/files/run-files.ts";
import { partitionCount, streams } from "../../../domain/subjects.ts";
import type { FormerFiles } from "../../../domain/workflow/run-control.ts";
import { createRunFiles } from "../../../platform/jetstream/files/run-files.ts";
import { createStoredFiles } from "../../../platform/jetstream/files/stored-files.ts";
import type { CommitStore } from "../../../runner/commit/ports.ts";
import type { ExecuteRequest } from "../../../runner/sandbox/port.ts";
import { until } from "../../support/until.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { owner, returned, threw, treeOf, withWorkflows, workflowOf, type StepCode } from "./support.ts";

/** Runs that begin with the files of another one, on real streams. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
/** Bytes that may still be stored. */
let room = Number.POSITIVE_INFINITY;
const { deploy, start, invoke, commits } = withWorkflows(nats, async (_owner, bytes) =>
  bytes > room ? { refusal: `there is no room for ${bytes} bytes` } : { release: () => undefined },
);
let files: RunFiles;
beforeAll(() => {
  files = createRunFiles(nats.connection, async () => ({ release: () => undefined }));
});
beforeEach(() => {
  room = Number.POSITIVE_INFINITY;
});

const runOf = ({ files: access }: ExecuteRequest): RunOfFiles => ({ owner, workflow: access?.workflow ?? "", run: access?.run ?? "" });
const file = (path: string, parts: readonly string[], bytes: number): FileEntry => ({
  kind: "file",
  path,
  bytes,
  parts,
  mode: 0o644,
  modifiedMs: 1,
});

async function writing(run: RunOfFiles, path: string, content: string): Promise<FileChanges> {
  const bytes = Buffer.from(content);
  return { removed: [], put: [file(path, [await files.write(run, bytes)], bytes.length)] };
}

/** Stores what a run had before, which has ended. */
async function formerRun(run: RunOfFiles, contents: Readonly<Record<string, string>>): Promise<FormerFiles> {
  const layers: string[] = [];
  for (const [path, content] of Object.entries(contents))
    layers.push(await files.write(run, Buffer.from(JSON.stringify(await writing(run, path, content)))));
  return { run: run.run, layers };
}

async function contentsOf(request: ExecuteRequest): Promise<Readonly<Record<string, string>>> {
  const run = runOf(request);
  const entries = await files.list(run, request.files?.layers ?? []);
  const read = entries.flatMap((entry) => (entry.kind === "file" ? [entry] : []));
  const textOf = async ({ parts }: (typeof read)[number]): Promise<string> =>
    Buffer.concat(await Promise.all(parts.map((part) => files.read(run, part)))).toString();
  return Object.fromEntries(await Promise.all(read.map(async (entry) => [entry.path, await textOf(entry)] as const)));
}

const repeat = (workflow: string, former: FormerFiles): Promise<void> =>
  invoke({
    source: workflow,
    trigger: "manual",
    event: {},
    repeats: { run: former.run, from: "two", steps: { one: '{"$return_value":1}' }, files: former },
  });

async function untilEnded(workflow: string, runs = 1): Promise<Awaited<ReturnType<typeof commits>>> {
  const ended = async () => (await commits(workflow)).filter(({ workflow: { status } }) => status === "failed" || status === "succeeded");
  await until(async () => (await ended()).length === runs, "the runs have ended");
  return await ended();
}

describe("a run that repeats another one from a later step", () => {
  it("begins with copies of the files, which are its own, and gives them to its own repetition", async () => {
    const former = await formerRun({ owner, workflow: "p_again", run: "r_former" }, { "a.txt": "first", "b.txt": "old" });
    const replaced = await formerRun({ owner, workflow: "p_again", run: "r_former" }, { "b.txt": "new" });
    const seen: Record<string, string>[] = [];
    const code: StepCode = async ({ name, request }) => {
      seen.push(await contentsOf(request));
      return name === "two" ? returned(null, { files: await writing(runOf(request), "c.txt", "two") }) : threw("no");
    };
    await deploy(workflowOf("p_again", ["one", "two", "three"]));
    await start("r_again", code);
    await repeat("p_again", { run: "r_former", layers: [...former.layers, ...replaced.layers] });
    await untilEnded("p_again");
    expect(seen).toEqual([
      { "a.txt": "first", "b.txt": "new" },
      { "a.txt": "first", "b.txt": "new", "c.txt": "two" },
    ]);
    const recorded = (await commits("p_again")).map(({ workflow }) => workflow.step?.files);
    const [began] = recorded[0]?.before ?? [];
    expect(recorded).toEqual([{ before: [began], after: [began, expect.any(String)] }, { before: [began, expect.any(String)] }]);
    // The repeated run's are gone by now.
    await createStoredFiles(nats.connection).forget({ owner, workflow: "p_again", run: "r_former" });
    const [second] = await commits("p_again");
    await repeat("p_again", { run: second?.run.id ?? "", layers: recorded[0]?.before ?? [] });
    await untilEnded("p_again", 2);
    expect(seen[2]).toEqual({ "a.txt": "first", "b.txt": "new" });
  });

  it("fails with what to do if the files are gone", async () => {
    const former = await formerRun({ owner, workflow: "p_gone", run: "r_gone" }, { "a.txt": "first" });
    await createStoredFiles(nats.connection).forget({ owner, workflow: "p_gone", run: "r_gone" });
    await deploy(workflowOf("p_gone", ["one", "two"]));
    await start("r_gone", () => returned(null));
    await repeat("p_gone", former);
    const [ended] = await untilEnded("p_gone");
    // So its own repetition begins there again.
    expect(ended?.workflow.failedStep?.name).toBe("two");
    expect(ended?.error).toMatchObject({
      name: "RepetitionError",
      code: "files_gone",
      message: expect.stringMatching(/run r_gone.*from its first step, or without files/u) as string,
    });
  });

  it("fails if the owner has no room for them, and if they are more than a run may have", async () => {
    const run = { owner, workflow: "p_room", run: "r_room" };
    const former = await formerRun(run, { "a.txt": "first" });
    await deploy(workflowOf("p_room", ["one", "two"]));
    await start("r_room", () => returned(null));
    room = 0;
    await repeat("p_room", former);
    const full = { name: "RepetitionError", code: "files_full" };
    expect((await untilEnded("p_room"))[0]?.error).toMatchObject({ ...full, message: expect.stringContaining("no room") as string });
    room = Number.POSITIVE_INFINITY;
    const put = (from: number): FileChanges["put"] =>
      Array.from({ length: 1_500 }, (_, index) => ({ kind: "directory", path: `d${from + index}`, mode: 0o755, modifiedMs: 1 }));
    const layer = (from: number) => files.write(run, Buffer.from(JSON.stringify({ removed: [], put: put(from) })));
    await repeat("p_room", { run: run.run, layers: [await layer(0), await layer(1_500)] });
    expect((await untilEnded("p_room", 2))[1]?.error).toMatchObject({ ...full, message: expect.stringContaining("3000 files") as string });
  });

  it("stores no copy at all if there is no room for all of them", async () => {
    const run = { owner, workflow: "p_part", run: "r_part" };
    const former = await formerRun(run, { "a.txt": "first", "b.txt": "second", "c.txt": "third" });
    const entries = await files.list(run, former.layers);
    const parts = entries.flatMap((entry) => (entry.kind === "file" ? entry.parts : []));
    await deploy(workflowOf("p_part", ["one", "two"]));
    await start("r_part", () => returned(null));
    room = chargeOf(10) * 2;
    await repeat("p_part", former);
    const [ended] = await untilEnded("p_part");
    expect(ended?.error).toMatchObject({ code: "files_full" });
    for (const part of parts)
      await expect(files.read({ ...run, run: ended?.run.id ?? "" }, part)).rejects.toMatchObject({ code: "files_gone" });
    // What is stored needs no room: the copies of an attempt that a crash has interrupted.
    const other = createRunFiles(nats.connection, async (_owner, bytes) =>
      bytes > 0 ? { refusal: "full" } : { release: () => undefined },
    );
    await files.copy(run, parts, "r_copied");
    await other.copy(run, parts, "r_copied");
    await expect(other.copy(run, parts, "r_another")).rejects.toMatchObject({ code: "files_full" });
  });

  it("fails if what it names is no layer", async () => {
    const run = { owner, workflow: "p_other", run: "r_other" };
    const former = await formerRun(run, { "a.txt": "no layer" });
    const [entry] = await files.list(run, former.layers);
    await deploy(workflowOf("p_other", ["one", "two"]));
    await start("r_other", () => returned(null));
    await repeat("p_other", { ...former, layers: entry?.kind === "file" ? entry.parts : [] });
    const [ended] = await untilEnded("p_other");
    expect(ended?.error).toMatchObject({ name: "RepetitionError", message: expect.stringContaining("no list of changed files") as string });
  });

  it("never has files of another owner, or of another workflow, whatever it names", async () => {
    const theirs = await formerRun({ owner: "u_other", workflow: "p_names", run: "r_theirs" }, { "secret.txt": "secret" });
    const elsewhere = await formerRun({ owner, workflow: "p_elsewhere", run: "r_elsewhere" }, { "secret.txt": "secret" });
    await deploy(workflowOf("p_names", ["one", "two"]));
    await start("r_names", () => returned(null));
    for (const former of [theirs, elsewhere]) await repeat("p_names", former);
    const ended = await untilEnded("p_names", 2);
    expect(ended.map(({ error }) => error?.code)).toEqual(["files_gone", "files_gone"]);
  });

  it("stores each part once if it begins again, because its first commit was not stored", async () => {
    const run = { owner, workflow: "p_crash", run: "r_crash" };
    const contents = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`${index}.txt`, `content ${index}`]));
    const former = await formerRun(run, contents);
    const seen: unknown[] = [];
    await deploy(workflowOf("p_crash", ["one", "two"]));
    const code: StepCode = async ({ request }) => {
      seen.push(await contentsOf(request));
      return returned(null);
    };
    const append =
      (store: CommitStore): CommitStore["append"] =>
      async (...commit) => {
        if (seen.length < 2) throw new Unavailable("NATS is down");
        return store.append(...commit);
      };
    await start("r_crash", code, [], (store) => ({ ...store, append: append(store) }));
    await repeat("p_crash", former);
    const [ended] = await untilEnded("p_crash");
    expect(seen).toEqual([contents, contents]);
    const { state } = await nats.connection.manager.streams.info(streams.files, {
      subjects_filter: `files.${owner}.p_crash.${ended?.run.id}.*`,
    });
    const layers = ended?.workflow.step?.files?.before ?? [];
    const sizes = Object.keys(state.subjects ?? {}).map((subject) => bytesOfPart(subject.split(".").at(-1) ?? ""));
    expect(sizes.filter((bytes) => bytes === "content 0".length)).toHaveLength(9);
    expect(layers).toHaveLength(1);
  });

  it("gives them to branches, if it begins with steps side by side", async () => {
    const former = await formerRun({ owner, workflow: "p_fork", run: "r_fork" }, { "a.txt": "first" });
    const seen: unknown[] = [];
    await deploy(treeOf("p_fork", [{ name: "one" }, { name: "two", parallel: [[{ name: "left" }], [{ name: "right" }]] }]));
    await start("r_fork", async ({ name, request }) => {
      if (name !== "two") seen.push(await contentsOf(request));
      return returned(null);
    });
    await repeat("p_fork", former);
    await untilEnded("p_fork");
    expect(seen).toEqual([{ "a.txt": "first" }, { "a.txt": "first" }]);
  });
});
