import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { podSettings } from "../../operator/runner-pool/objects/pod-settings.ts";
import { planOf, poolOf } from "../operator/runner-pool/pools.ts";
import { chart, findProgram, renderObjects } from "../support/helm.ts";

const missing = findProgram("helm") === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : "";
const values = (name: string): string => `--values=${join(import.meta.dirname, `values-${name}.yaml`)}`;
const variants: readonly (readonly string[])[] = [
  [],
  [values("tls")],
  [values("external")],
  [`--values=${join(chart, "values-ha.yaml")}`, values("ha")],
];

describe.skipIf(missing !== "")(`the settings of runner pods in the chart${missing}`, () => {
  it.each(variants)("are all known to the operator: %j %j", async (...flags) => {
    const given = await settingsOf(flags.filter((flag) => flag !== undefined));
    const parsed = z.strictObject(podSettings.shape).parse(given);
    expect(planOf(poolOf("default"), parsed)).toHaveLength(5);
  });

  it("give runners the authority of NATS and their client certificate, and no other key", async () => {
    const planned = JSON.stringify(planOf(poolOf("default"), podSettings.parse(await settingsOf([values("tls")]))));
    expect(planned).toContain(`{"name":"HEADWATER_NATS_CA","value":"/tls/nats/ca.crt"}`);
    expect(planned).toContain(`{"name":"tls","mountPath":"/tls","readOnly":true}`);
    expect(planned).toContain(`{"name":"headwater-nats-tls","items":[{"key":"ca.crt","path":"nats/ca.crt"}]}`);
    expect(planned).toContain(`"name":"headwater-client-tls"`);
  });
});

const configMap = z.looseObject({ data: z.object({ "runner-pods.json": z.string() }) });

async function settingsOf(flags: readonly string[]): Promise<unknown> {
  const found = (await renderObjects(...flags)).find(
    ({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "headwater-runner-pods",
  );
  return JSON.parse(configMap.parse(found).data["runner-pods.json"]);
}
