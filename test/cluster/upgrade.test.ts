import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { helm } from "../support/helm.ts";
import { type Endpoint, install, namespace, owned, report } from "./installation.ts";
import { get, kubectl, tryKubectl } from "./kubectl.ts";
import { countingSources, expectNothingLost, startLoad } from "./load.ts";

let sources: readonly Endpoint[] = [];

beforeAll(async () => {
  sources = await countingSources("upgrade", 2);
});
afterAll(async () => {
  await tryKubectl(["-n", owned, "delete", "sources,webhooks,subscriptions", ...sources.map(({ name }) => name)]);
});

const keysOf = async (): Promise<unknown> => (await get("secret", "headwater-keys", namespace))["data"];

describe("helm upgrade and rollback under load", () => {
  it("replaces every role without refusing a request or losing an event, and keeps the keys", async () => {
    const keys = await keysOf();
    const load = await startLoad(sources, 30);
    await load.more(30);
    const ms = await install("upgrade", "--set", "settings.logLevel=debug", "--set", "podDisruptionBudgets.enabled=true");
    await load.more(60);
    const stopped = await load.stop();
    report(
      `helm upgrade of every role: ${Math.round(ms)} ms; not accepted ${JSON.stringify(stopped.refused)}, slowest ${Math.round(stopped.slowestMs)} ms`,
    );
    await expectNothingLost(stopped);
    expect(stopped.refused).toEqual({});
    expect(await keysOf()).toEqual(keys);
  });

  it("returns to the previous revision by helm rollback", async () => {
    const load = await startLoad(sources, 30);
    await load.more(30);
    const { code, stderr } = await helm(["rollback", "headwater", "--namespace", namespace, "--wait", "--timeout", "240s"]);
    expect(code, stderr).toBe(0);
    await load.more(60);
    await expectNothingLost(await load.stop());
    const deployment = JSON.stringify(await get("deployment", "headwater-ingress", namespace));
    expect(deployment).not.toContain('"debug"');
  });

  it("updates a changed definition", async () => {
    await kubectl(["annotate", "crd", "sources.headwater.dev", "helm.sh/resource-policy-"]);
    await install("upgrade");
    const { metadata } = await get("crd", "sources.headwater.dev", "");
    expect(JSON.stringify(metadata)).toContain('"helm.sh/resource-policy":"keep"');
  });
});
