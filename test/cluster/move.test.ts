import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import type { TemporaryDirectory } from "../support/temporary-directory.ts";
import { backupOf, checkout, documentedBackup, documentedBlocks, runBlock } from "./documented.ts";
import { call, type Endpoint, install, isInstalled, makeNamespace, namespace, removeInstallation } from "./installation.ts";
import { get, kubectl } from "./kubectl.ts";
import { countingSources, expectNothingLost, startLoad, withEarlier, type Stopped } from "./load.ts";

/** Follows docs/kubernetes.md, "To other servers": from one NATS server to three, with requests until the roles have stopped. */
describe("the documented move to other servers", () => {
  const [enable = ""] = documentedBlocks("Back up and restore");
  const [rehearse = "", stop = "", move = ""] = documentedBlocks("To other servers");
  let directory: TemporaryDirectory;
  let sources: readonly Endpoint[] = [];
  let before: Stopped;
  let name = "";

  beforeAll(async () => {
    directory = await checkout("move");
    await makeNamespace(namespace);
    if (!(await isInstalled())) await install("install");
    sources = await countingSources("moved", 2);
    await runBlock(enable, directory.path);
    await runBlock(rehearse, directory.path);
  });
  afterAll(async () => {
    await removeInstallation();
    await directory.remove();
  });

  it("stops the roles while requests arrive, and saves", async () => {
    await call("GET", "/users/me"); // Keeps the API key.
    const load = await startLoad(sources, 20);
    await load.more(100);
    name = backupOf(await runBlock(stop, directory.path));
    before = await load.stop();
    expect(before.sources.every(({ accepted }) => accepted.length > 0)).toBe(true);
    expect(Object.keys(before.refused)).not.toEqual([]);
  });

  it("installs three servers from the backup", async () => {
    await runBlock(move.replaceAll(documentedBackup, name), directory.path);
    expect((await get("statefulset", "headwater-nats", namespace)).status).toMatchObject({ replicas: 3 });
    await kubectl(["-n", namespace, "wait", "--for=condition=Available", "deployment", "--all", "--timeout=180s"]);
    await until(async () => (await call("GET", "/users/me")).status === 200, "the API accepts the former key");
  });

  it("has lost nothing that was accepted, and continues counters", async () => {
    const load = await startLoad(sources, 20);
    await load.more(100);
    await expectNothingLost(withEarlier(await load.stop(), before));
  });
});
