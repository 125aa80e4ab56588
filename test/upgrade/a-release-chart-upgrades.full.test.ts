import { beforeAll, describe, expect, it } from "vitest";
import { chart, findProgram, helm } from "../support/helm.ts";
import { withKubeApi } from "../support/kube/kube-api.ts";
import { chartArchive } from "./release.ts";

/**
 * Helm upgrades the release's chart to the current one on a real API server, which refuses changes of immutable fields and of stored
 * resources that fit no definition any more. No controllers run there, so hook Jobs would never end: `--no-hooks`.
 */
const kube = await withKubeApi({ own: true, crds: false });
const missing = kube.missing ?? (findProgram("helm") === undefined || !kube.hasKubectl ? "helm or kubectl was not found" : undefined);
const suite = missing === undefined ? describe : describe.skip;

const run = async (...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await helm([...args, "--namespace", "headwater", "--no-hooks", "--kubeconfig", kube.kubeconfigPath]);
  expect(code, stderr).toBe(0);
  return stdout;
};
const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
  const { code, stdout, stderr } = await kube.kubectl(args, input);
  expect(code, stderr).toBe(0);
  return stdout;
};

const resources = `
apiVersion: headwater.dev/v1alpha1
kind: Source
metadata: { name: orders, namespace: headwater-default }
spec:
  code: |
    export default { name: "Orders", props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } } }, run() {} };
---
apiVersion: headwater.dev/v1alpha1
kind: Webhook
metadata: { name: receiver, namespace: headwater-default }
spec: { url: "https://example.com/events", ordered: true }
---
apiVersion: headwater.dev/v1alpha1
kind: Subscription
metadata: { name: orders, namespace: headwater-default }
spec: { emitterRef: { kind: Source, name: orders }, listenerRef: { kind: Webhook, name: receiver } }
`;

/** Any write is validated against the stored definitions. */
const annotate = async (annotation: string): Promise<number> => {
  const names = ["source/orders", "webhook/receiver", "subscription/orders"];
  const output = await kubectl(["-n", "headwater-default", "annotate", ...names, annotation]);
  return output.split("\n").filter((line) => line.endsWith(" annotated")).length;
};
const annotated = 3;

suite(`the chart of release 0.1.0${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  beforeAll(async () => {
    await run("install", "headwater", chartArchive, "--create-namespace", "--set", "dashboards.enabled=true");
    await kubectl(["wait", "--for=condition=Established", "crd", "-l", "app.kubernetes.io/name=headwater", "--timeout=30s"]);
    await kubectl(["create", "namespace", "headwater-default", "--dry-run=client", "-o", "yaml"]).then((text) =>
      kubectl(["apply", "-f", "-"], text),
    );
    await kubectl(["apply", "-f", "-"], resources);
  });

  it("upgrades to the current chart with the release's values", async () => {
    expect(await run("upgrade", "headwater", chart, "--reset-then-reuse-values")).toContain("has been upgraded");
  });

  it("keeps resources valid for the current definitions", async () => {
    await kubectl(["apply", "--server-side", "--force-conflicts", "-f", "-"], resources);
    expect(await annotate("upgraded=true")).toBe(annotated);
  });

  it("rolls back to the release's chart", async () => {
    expect(await run("rollback", "headwater", "1")).toContain("Rollback was a success");
    expect(await annotate("rolled-back=true")).toBe(annotated);
  });
});
