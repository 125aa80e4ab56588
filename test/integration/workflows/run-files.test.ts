import { beforeAll, describe, expect, it } from "vitest";
import type { FileChanges, FileEntry, RunFiles, RunOfFiles } from "../../../domain/files/run-files.ts";
import type { Answer } from "../../../domain/invocation/invocation.ts";
import { partitionCount, streams } from "../../../domain/subjects.ts";
import { fileSweeper } from "../../../operator/file-sweep.ts";
import { createRunFiles } from "../../../platform/jetstream/files/run-files.ts";
import { createStoredFiles } from "../../../platform/jetstream/files/stored-files.ts";
import type { ExecuteRequest } from "../../../runner/sandbox/port.ts";
import { until } from "../../support/until.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { owner, returned, stepOf, threw, treeOf, withWorkflows, workflowOf } from "./support.ts";

const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
/** Bytes that may still be stored. */
let room = Number.POSITIVE_INFINITY;
const { deploy, start, invoke } = withWorkflows(nats, async (_owner, bytes) =>
  bytes > room ? { refusal: `there is no room for ${bytes} bytes` } : { release: () => undefined },
);
let files: RunFiles;
beforeAll(() => {
  files = createRunFiles(nats.connection, async () => ({ release: () => undefined }));
});

const runOf = ({ files: access }: ExecuteRequest): RunOfFiles => ({ owner, workflow: access?.workflow ?? "", run: access?.run ?? "" });
const listed = (request: ExecuteRequest): Promise<readonly FileEntry[]> => files.list(runOf(request), request.files?.layers ?? []);
const pathsOf = async (request: ExecuteRequest): Promise<readonly string[]> => (await listed(request)).map(({ path }) => path);

/** Changes as a sandbox makes them: the content is stored first. */
async function writing(request: ExecuteRequest, path: string, content: string): Promise<FileChanges> {
  const bytes = Buffer.from(content);
  const part = await files.write(runOf(request), bytes);
  return { removed: [], put: [{ kind: "file", path, bytes: bytes.length, parts: [part], mode: 0o644, modifiedMs: 1 }] };
}

async function run(workflow: string, event: unknown = {}): Promise<void> {
  await invoke({ source: workflow, trigger: "manual", event, answerTo: "answer.test.run" });
}

describe("files of a run", () => {
  it("are those of the steps that have returned, and no other run's", async () => {
    const answers: Answer[] = [];
    const seen: (readonly string[])[] = [];
    let content = "";
    await deploy({
      ...workflowOf("p_files", []),
      steps: [
        stepOf("p_files", "one"),
        stepOf("p_files", "fails", { continueOnError: true }),
        stepOf("p_files", "two"),
        stepOf("p_files", "three"),
      ],
    });
    await start(
      "r_files",
      async ({ name, request }) => {
        seen.push(await pathsOf(request));
        if (name === "three") {
          content = Buffer.from(await files.read(runOf(request), partOf(await listed(request), "one"))).toString();
          return returned(null);
        }
        const changes = await writing(request, name, `${name}!`);
        const execution = name === "fails" ? threw("no") : returned(null, { files: changes });
        return name === "fails" && execution.outcome === "threw" && execution.action !== undefined
          ? { ...execution, action: { ...execution.action, files: changes } }
          : execution;
      },
      answers,
    );
    await run("p_files");
    await until(() => answers.length === 1, "the run has ended");
    expect(seen).toEqual([[], ["one"], ["one"], ["one", "two"]]);
    expect(answers[0]).toMatchObject({ kind: "run", run: { error: null } });
    expect(content).toBe("one!");
    await run("p_files");
    await until(() => answers.length === 2, "the second run has ended");
    expect(seen[4]).toEqual([]);
  });

  it("are joined to few layers, and are still those of all steps", async () => {
    const answers: Answer[] = [];
    const layers: number[] = [];
    let last: readonly string[] = [];
    const names = Array.from({ length: 40 }, (_, index) => `s${String(index).padStart(2, "0")}`);
    await deploy(workflowOf("p_many", names));
    await start(
      "r_many",
      async ({ name, request }) => {
        layers.push(request.files?.layers.length ?? 0);
        if (name === "s39") last = await pathsOf(request);
        return returned(null, { files: await writing(request, name, name) });
      },
      answers,
    );
    await run("p_many");
    await until(() => answers.length === 1, "the run has ended");
    expect(Math.max(...layers)).toBeLessThanOrEqual(17);
    expect(answers[0]).toMatchObject({ run: { error: null } });
    expect(last).toEqual(names.slice(0, 39));
  });

  it("end the step with an error if there is no room for them", async () => {
    const answers: Answer[] = [];
    await deploy(workflowOf("p_full", ["one", "two"]));
    await start("r_full", async ({ request }) => returned(null, { files: await writing(request, "one", "1") }), answers);
    room = 0;
    await run("p_full");
    await until(() => answers.length === 1, "the run has ended");
    room = Number.POSITIVE_INFINITY;
    expect(answers[0]).toMatchObject({
      run: {
        error: { name: "LimitError", code: "files_full", message: expect.stringMatching(/^there is no room for \d+ bytes$/u) as string },
      },
    });
  });

  it("stay readable when steps side by side have stored more than a run may have, until one deletes some", async () => {
    const answers: Answer[] = [];
    const names = Array.from({ length: 18 }, (_, index) => `b${index}`);
    const ofBranch = (name: string): FileChanges["put"] =>
      Array.from({ length: 150 }, (_, index) => ({ kind: "directory", path: `${name}-${index}`, mode: 0o755, modifiedMs: 1 }));
    const tree = [{ name: "fork", parallel: names.map((name) => [{ name }]) }, { name: "clean" }, { name: "last" }];
    const { promise: haveBegun, resolve } = Promise.withResolvers<void>();
    let begun = 0;
    let last: readonly string[] = [];
    await deploy(treeOf("p_together", tree));
    await start(
      "r_together",
      async ({ name, request }) => {
        if (name === "fork") return returned(null);
        if (name === "last") last = await pathsOf(request);
        if (name === "last") return returned(null);
        if (name === "clean") return returned(null, { files: { removed: (await pathsOf(request)).slice(0, 1_000), put: [] } });
        if (++begun === 4) resolve(); // As many as have a place at once.
        await Promise.race([haveBegun, new Promise((done) => setTimeout(done, 2_000))]);
        return returned(null, { files: { removed: [], put: ofBranch(name) } });
      },
      answers,
    );
    await run("p_together");
    await until(() => answers.length === 1, "the run has ended");
    const [answer] = answers;
    // Whether a branch saw those of others decides how many there are; whatever is stored can be read.
    if (answer?.kind === "run" && answer.run.error === null) expect(last.length).toBeGreaterThan(0);
    else expect(answer).toMatchObject({ run: { error: { code: "files_full" } } });
  });

  it("end the step with an error if they are too many", async () => {
    const answers: Answer[] = [];
    await deploy(workflowOf("p_crowd", ["one", "two"]));
    const put = (from: number): FileChanges["put"] =>
      Array.from({ length: 1_500 }, (_, index) => ({ kind: "directory", path: `d${from + index}`, mode: 0o755, modifiedMs: 1 }));
    await start("r_crowd", ({ name }) => returned(null, { files: { removed: [], put: put(name === "one" ? 0 : 1_500) } }), answers);
    await run("p_crowd");
    await until(() => answers.length === 1, "the run has ended");
    expect(answers[0]).toMatchObject({ run: { error: { code: "files_full", message: expect.stringContaining("3000 files") as string } } });
  });
});

describe("the sweep of files", () => {
  it("deletes those of runs that have ended, once they are old, and keeps those of runs that wait", async () => {
    const answers: Answer[] = [];
    await deploy(workflowOf("p_ends", ["one"]));
    await deploy(workflowOf("p_waits", ["one", "two"]));
    const suspend = { flow: { kind: "suspend", ms: 3_600_000 } } as const;
    await start(
      "r_sweep",
      async ({ request }) =>
        returned(null, { files: await writing(request, "one", "1"), ...(request.files?.workflow === "p_waits" ? suspend : {}) }),
      answers,
    );
    await run("p_ends");
    await run("p_waits");
    // A step or a test that was never committed.
    await files.write({ owner, workflow: "p_tested", run: "r_test" }, Buffer.from("1"));
    await until(() => answers.length === 2, "one has ended, and one waits");
    const stored = createStoredFiles(nats.connection);
    let later = 0;
    const sweep = fileSweeper({
      files: stored,
      clock: { now: () => Date.now() + later },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    const workflows = async (): Promise<readonly string[]> =>
      [...new Set((await stored.list()).runs.map(({ workflow }) => workflow))].toSorted();
    const before = await workflows();
    expect(before).toEqual(expect.arrayContaining(["p_ends", "p_tested", "p_waits"]));
    // Files may be old when their run ends: the time counts from then on.
    for (const hours of [5, 28.9]) {
      later = hours * 3_600_000;
      await sweep("all", AbortSignal.timeout(60_000));
      expect(await workflows()).toEqual(before);
    }
    later = 29.1 * 3_600_000;
    await sweep("all", AbortSignal.timeout(60_000));
    expect(await workflows()).toEqual(["p_waits"]);
  });

  it("deletes those that ended first earlier while much is stored, but no file within two hours", async () => {
    const [MiB, hour] = [2 ** 20, 3_600_000];
    const stored = new Map(["r_1", "r_2", "r_3", "r_4"].map((id, index) => [id, index * hour]));
    let [now, others] = [0, 20 * MiB];
    const sweep = fileSweeper({
      files: {
        list: async () => ({
          runs: [...stored.keys()].toReversed().map((id) => ({ owner, workflow: "p_any", run: id, bytes: 10 * MiB })),
          bytes: others + stored.size * 10 * MiB,
          maxBytes: 200 * MiB,
        }),
        isNeeded: async () => false,
        lastStoredAt: async ({ run: id }) => stored.get(id),
        forget: async ({ run: id }) => void stored.delete(id),
      },
      clock: { now: () => now },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    const leftAfter = async (hours: number): Promise<string> => {
      now = hours * hour;
      await sweep("all", AbortSignal.timeout(60_000));
      return [...stored.keys()].join(" ");
    };
    // More than a quarter is used: the first one makes room enough.
    expect([await leftAfter(0), await leftAfter(1.9), await leftAfter(3.9)]).toEqual(["r_1 r_2 r_3 r_4", "r_1 r_2 r_3 r_4", "r_2 r_3 r_4"]);
    others = 100 * MiB;
    expect([await leftAfter(3.95), await leftAfter(4), await leftAfter(4.9)]).toEqual(["r_3 r_4", "r_4", "r_4"]);
    others = 0;
    expect([await leftAfter(26.9), await leftAfter(27)]).toEqual(["r_4", ""]);
  });

  it("counts from the end of a run that had no commit when it was first seen", async () => {
    const run = { owner, workflow: "p_any", run: "r_late", bytes: 4_096 };
    let [now, isNeeded, isThere] = [0, false, true];
    const sweep = fileSweeper({
      files: {
        list: async () => ({ runs: isThere ? [run] : [], bytes: 4_096, maxBytes: 0 }),
        isNeeded: async () => isNeeded,
        lastStoredAt: async () => 0,
        forget: async () => void (isThere = false),
      },
      clock: { now: () => now },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    const isThereAfter = async (hours: number, needs: boolean): Promise<boolean> => {
      [now, isNeeded] = [hours * 3_600_000, needs];
      await sweep("all", AbortSignal.timeout(60_000));
      return isThere;
    };
    const seen = [await isThereAfter(0, false), await isThereAfter(1, true), await isThereAfter(23, false), await isThereAfter(25, false)];
    expect([...seen, await isThereAfter(46.9, false), await isThereAfter(47, false)]).toEqual([true, true, true, true, true, false]);
  });

  it("goes on behind a run that it cannot look at, and says so", async () => {
    const forgotten: string[] = [];
    const run = (id: string) => ({ owner, workflow: "p_any", run: id, bytes: 4_096 });
    let now = 0;
    const sweep = fileSweeper({
      files: {
        list: async () => ({ runs: [run("r_bad"), run("r_good")], bytes: 8_192, maxBytes: 0 }),
        isNeeded: async ({ run: id }) => {
          if (id === "r_bad") throw new Error("it cannot be read");
          return false;
        },
        lastStoredAt: async () => 0,
        forget: async ({ run: id }) => void forgotten.push(id),
      },
      clock: { now: () => now },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    await expect(sweep("all", AbortSignal.timeout(60_000))).rejects.toThrow("it cannot be read");
    now = 25 * 3_600_000;
    await expect(sweep("all", AbortSignal.timeout(60_000))).rejects.toThrow("it cannot be read");
    expect(forgotten).toEqual(["r_good"]);
  });

  it("leaves files behind that are gone for a step that needs them, which says so", async () => {
    const gone = { owner, workflow: "p_files", run: "r_gone" };
    const part = await files.write(gone, Buffer.from("1"));
    await nats.connection.manager.streams.purge(streams.files);
    await expect(files.read(gone, part)).rejects.toMatchObject({ status: 404, code: "files_gone" });
  });
});

function partOf(entries: readonly FileEntry[], path: string): string {
  const entry = entries.find((each) => each.path === path);
  if (entry?.kind !== "file") throw new Error(`${path} is not a file`);
  return entry.parts[0] ?? "";
}
