import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { podSettings } from "../../../operator/runner-pool/objects/pod-settings.ts";
import { planOf, poolOf } from "./pools.ts";

const golden = join(import.meta.dirname, "../../charts/golden");
const document = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  data: z.record(z.string(), z.string()).optional(),
});

describe("the settings of runner pods", () => {
  it.each(["default", "ha", "external", "tls"])("know every setting of the chart (%s)", (name) => {
    const given: unknown = JSON.parse(renderedBy(name));
    const parsed = z.strictObject(podSettings.shape).parse(given);
    expect(planOf(poolOf("default"), parsed)).toHaveLength(5);
  });

  it("give runners the authority of NATS and their client certificate, and no other key", () => {
    const planned = JSON.stringify(planOf(poolOf("default"), podSettings.parse(JSON.parse(renderedBy("tls")))));
    expect(planned).toContain(`{"name":"HEADWATER_NATS_CA","value":"/tls/nats/ca.crt"}`);
    expect(planned).toContain(`{"name":"tls","mountPath":"/tls","readOnly":true}`);
    expect(planned).toContain(`{"name":"headwater-nats-tls","items":[{"key":"ca.crt","path":"nats/ca.crt"}]}`);
    expect(planned).toContain(`"name":"headwater-client-tls"`);
  });

  it("require the namespace, the image and the address of NATS", () => {
    const { error } = podSettings.safeParse({});
    expect(error?.issues.map(({ path }) => path.join("."))).toEqual(["namespace", "image", "nats"]);
  });
});

function renderedBy(name: string): string {
  const documents = parseAllDocuments(readFileSync(join(golden, `${name}.yaml`), "utf8"));
  for (const each of documents) {
    const parsed = document.safeParse(each.toJS());
    if (parsed.success && parsed.data.kind === "ConfigMap" && parsed.data.metadata.name === "headwater-runner-pods")
      return parsed.data.data?.["runner-pods.json"] ?? "";
  }
  throw new Error(`${name}.yaml has no ConfigMap headwater-runner-pods`);
}
