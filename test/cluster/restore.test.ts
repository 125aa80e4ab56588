import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { helm } from "../support/helm.ts";
import type { TemporaryDirectory } from "../support/temporary-directory.ts";
import { backupOf, checkout, documentedBackup, documentedBlocks, runBlock } from "./documented.ts";
import { call, type Endpoint, install, makeNamespace, namespace, newOwnerOf, owned, removeInstallation } from "./installation.ts";
import { get, kubectl, list, tryKubectl } from "./kubectl.ts";
import { countingSources, expectNothingLost, startLoad, withEarlier, type Stopped } from "./load.ts";

/** The namespace of another owner, which the chart does not create. */
const otherOwned = "headwater-test-restore";

const namesOf = async (kinds: string): Promise<readonly string[]> =>
  (await list(kinds, "-n", owned)).map(({ kind, metadata }) => `${kind}/${metadata.name}`).toSorted();

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
    directory = await checkout("restore");
    await makeNamespace(namespace);
    if ((await tryKubectl(["-n", namespace, "get", "deployment", "headwater-api"])).code !== 0) await install("install");
    sources = await countingSources("restored", 2);
    await makeNamespace(otherOwned, { "headwater.dev/owner": await newOwnerOf(otherOwned) });
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
    name = backupOf(printed);
    await runBlock(copy.replaceAll(documentedBackup, name), directory.path);
  });

  it("restores it where everything was deleted", async () => {
    await call("GET", "/users/me"); // Keeps the API key of the former installation.
    await removeInstallation();
    await kubectl(["delete", "namespace", otherOwned]);
    const printed = await runBlock(restore.replaceAll(documentedBackup, name), directory.path);
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
