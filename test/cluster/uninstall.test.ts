import { describe, expect, it } from "vitest";
import { helm } from "../support/helm.ts";
import { until } from "../support/until.ts";
import { call, install, namespace, owned, removeInstallation } from "./installation.ts";
import { kubectl, list } from "./kubectl.ts";
import { countingSources, startLoad } from "./load.ts";

describe("helm uninstall", () => {
  it("keeps definitions, resources, keys and data for the next install", async () => {
    const [source] = await countingSources("kept", 1);
    const load = await startLoad(source === undefined ? [] : [source], 20);
    await load.more(20);
    await load.stop();
    const events = async (): Promise<number> =>
      (await call("GET", `/sources/${source?.id ?? ""}/event_summaries?limit=100`)).text.split('"indexed_at').length;
    await until(async () => (await events()) > 5, "events are kept");
    const before = await definitions();
    expect(before).toContain("sources.headwater.dev");

    const { code, stderr } = await helm(["uninstall", "headwater", "--namespace", namespace, "--wait", "--timeout", "120s"]);
    expect(code, stderr).toBe(0);
    expect(await definitions()).toEqual(before);
    expect((await list("sources", "-n", owned)).map(({ metadata }) => metadata.name)).toContain("kept-0");
    expect((await list("secrets", "-n", namespace)).map(({ metadata }) => metadata.name)).toContain("headwater-keys");
    await until(async () => (await list("deployments", "-n", namespace)).length === 0, "runner pods are deleted with the release");

    await install("install");
    await kubectl(["-n", owned, "wait", "--for=condition=Ready", "source/kept-0", "--timeout=90s"]);
    expect(await events()).toBeGreaterThan(5);
    const again = await startLoad(source === undefined ? [] : [source], 20);
    await again.more(20);
    await again.stop();
  });

  it("leaves no object after the documented removal", async () => {
    await removeInstallation();
    expect(await definitions()).toEqual([]);
  });
});

/** Names of the resource definitions of Headwater that the API server has. */
async function definitions(): Promise<string[]> {
  return (await list("crds")).map(({ metadata }) => metadata.name).filter((name) => name.endsWith(".headwater.dev"));
}
