import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blocksOf } from "../e2e/support/documented-session.ts";
import { until } from "../e2e/support/headwater.ts";
import { helm } from "../support/helm.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { call, type Endpoint, install, makeNamespace, namespace, owned, removeInstallation } from "./installation.ts";
import { get, kubectl, list, tryKubectl } from "./kubectl.ts";
import { countingSources, expectNothingLost, startLoad, type Stopped } from "./load.ts";

const root = join(import.meta.dirname, "..", "..");
const page = "docs/kubernetes.md";
/** The namespace of another owner, which the chart does not create. */
const otherOwned = "headwater-test-restore";
/** The backup that the page names. */
const documentedName = "2026-11-27T02-17-01-204Z";

/** The shell blocks of the page's section, in their order. */
function documentedBlocks(heading: string): readonly string[] {
  const lines = readFileSync(join(root, page), "utf8").split("\n");
  const from = lines.indexOf(`## ${heading}`);
  const to = lines.findIndex((line, index) => index > from && line.startsWith("## "));
  return blocksOf(page)
    .filter(({ line, language }) => language === "bash" && line > from && line <= to)
    .map(({ text }) => text);
}

/** Runs a block as documented, in a directory with the files that the page names. @returns what it printed */
function runBlock(block: string, directory: string): Promise<string> {
  const options = { cwd: directory, timeout: 360_000, maxBuffer: 2 ** 24 };
  return new Promise((resolve, reject) => {
    execFile("bash", ["-euo", "pipefail", "-c", block], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${block}\n${stdout}${stderr}`, { cause: error }));
    });
  });
}

const namesOf = async (kinds: string): Promise<readonly string[]> =>
  (await list(kinds, "-n", owned)).map(({ kind, metadata }) => `${kind}/${metadata.name}`).toSorted();

const withEarlier = (stopped: Stopped, earlier: Stopped): Stopped => ({
  ...stopped,
  sources: stopped.sources.map(({ id, accepted }) => ({
    id,
    accepted: [...(earlier.sources.find((one) => one.id === id)?.accepted ?? []), ...accepted],
  })),
});

/** Follows the page's section step by step, on one cluster: everything is deleted between the backup and the restore. */
describe("the documented backup and restore", () => {
  const [enable = "", backUp = "", copy = "", restore = ""] = documentedBlocks("Back up and restore");
  let directory: TemporaryDirectory;
  let sources: readonly Endpoint[] = [];
  let before: Stopped;
  let name = "";
  let objects: readonly string[] = [];
  const kinds = "sources,components,webhooks,subscriptions,secrets,configmaps";

  beforeAll(async () => {
    directory = await temporaryDirectory("restore");
    for (const folder of ["charts", "docs"]) await symlink(join(root, folder), join(directory.path, folder));
    await makeNamespace(namespace);
    if ((await tryKubectl(["-n", namespace, "get", "deployment", "headwater-api"])).code !== 0) await install("install");
    sources = await countingSources("restored", 2);
    await makeNamespace(otherOwned, { "headwater.dev/owner": "u_restored" });
    await kubectl(["-n", otherOwned, "create", "configmap", "saved", "--from-literal=code=none"]);
  });
  afterAll(async () => {
    await removeInstallation();
    await tryKubectl(["delete", "namespace", otherOwned, "--ignore-not-found"]);
    await directory.remove();
  });

  it("saves a backup by the CronJob, and copies it to another place", async () => {
    const load = await startLoad(sources, 20);
    await load.more(100);
    before = await load.stop();
    await expectNothingLost(before);
    objects = await namesOf(kinds);

    await runBlock(enable, directory.path);
    const printed = await runBlock(backUp, directory.path);
    name = /The backup is \/backups\/([\dTZ-]+)\./.exec(printed)?.[1] ?? "";
    expect(name, printed).not.toBe("");
    await runBlock(copy.replaceAll(documentedName, name), directory.path);
  });

  it("restores it where everything was deleted", async () => {
    await call("GET", "/users/me"); // Keeps the API key of the former installation.
    await removeInstallation();
    await kubectl(["delete", "namespace", otherOwned]);
    const printed = await runBlock(restore.replaceAll(documentedName, name), directory.path);
    expect(printed).toContain("Restored is the backup of ");
    expect(printed).not.toMatch(/forbidden|denied/i);
    for (const { name: source, id, endpoint } of sources) {
      await kubectl(["-n", owned, "wait", "--for=condition=Ready", `source/${source}`, "--timeout=120s"]);
      expect((await get("source", source, owned)).status).toMatchObject({ id, endpoint });
    }
    expect(await namesOf(kinds)).toEqual(objects);
    expect((await get("configmap", "saved", otherOwned))["data"]).toEqual({ code: "none" });
    await until(async () => (await call("GET", "/users/me")).status === 200, "the API accepts the former key");
  });

  it("continues counters and deliveries, each delivery under its former webhook-id", async () => {
    const ready = ["-n", namespace, "wait", "--for=condition=Available", "deployment", "--all", "--timeout=120s"];
    await kubectl(ready);
    const load = await startLoad(sources, 20);
    await load.more(100);
    const after = await load.stop();
    await expectNothingLost(withEarlier(after, before));
    expect(after.refused).toEqual({});
  });

  it("takes the rights of the restore away at the next upgrade", async () => {
    expect((await tryKubectl(["get", "clusterrole", "headwater-restore"])).code).toBe(0);
    const flags = ["--reset-then-reuse-values", "--set", "backup.restore=", "--wait", "--timeout", "240s"];
    const { code, stderr } = await helm(["upgrade", "headwater", "charts/headwater", "--namespace", namespace, ...flags]);
    expect(code, stderr).toBe(0);
    expect((await tryKubectl(["get", "clusterrole", "headwater-restore"])).stderr).toContain("NotFound");
    const load = await startLoad(sources, 20);
    await load.more(20);
    expect((await load.stop()).refused).toEqual({});
  });
});
