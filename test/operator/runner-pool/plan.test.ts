import { describe, expect, it } from "vitest";
import type { WorkloadKind } from "../../../operator/runner-pool/objects/objects.ts";
import { podMistakes } from "../../support/pod-rules.ts";
import { planOf, poolOf, releaseOwner, secret, settingsOf } from "./pools.ts";

type Pool = Parameters<typeof planOf>[0];

const plan = (pool: Pool, settings = settingsOf(), kept = secret, replicas = 1) => planOf(pool, settings, kept, replicas);
const objectOf = (kind: WorkloadKind, pool: Pool, settings = settingsOf(), kept = secret): object =>
  plan(pool, settings, kept).find((object) => object.kind === kind) ?? {};

describe("the objects of a pool", () => {
  it("are five objects of one name, owned by the release and labelled with the pool", () => {
    const objects = plan(poolOf("fast", { owner: "u_a" }));
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).toEqual([
      "ServiceAccount headwater/headwater-runner-fast",
      "Secret headwater/headwater-runner-fast",
      "NetworkPolicy headwater/headwater-runner-fast",
      "PodDisruptionBudget headwater/headwater-runner-fast",
      "Deployment headwater/headwater-runner-fast",
    ]);
    for (const { metadata } of objects) {
      expect(metadata.labels).toMatchObject({ "headwater.dev/pool": "fast", "app.kubernetes.io/managed-by": "headwater-operator" });
      expect(metadata.ownerReferences).toEqual([releaseOwner]);
    }
  });

  it("are equal for equal pools, so that nothing is written twice", () => {
    expect(plan(poolOf("default"))).toEqual(plan(poolOf("default")));
  });

  it("share no pod selector with another pool", () => {
    const selectors = ["one", "two"].map((name) => JSON.stringify(objectOf("NetworkPolicy", poolOf(name, { owner: "u_a" }))));
    expect(selectors[0]).toContain('"headwater.dev/pool":"one"');
    expect(selectors[1]).not.toContain('"one"');
  });

  it("mount no API server token, neither by the account nor by the pods", () => {
    expect(objectOf("ServiceAccount", poolOf("default"))).toMatchObject({ automountServiceAccountToken: false });
    expect(objectOf("Deployment", poolOf("default"))).toMatchObject({
      spec: { template: { spec: { automountServiceAccountToken: false } } },
    });
  });

  it("trust the private authorities of the trace collector", () => {
    const pod = JSON.stringify(objectOf("Deployment", poolOf("default"), settingsOf({ collector: { caSecret: "traces-ca" } })));
    expect(pod).toContain(`{"name":"OTEL_EXPORTER_OTLP_CERTIFICATE","value":"/tls/traces/ca.crt"}`);
    expect(pod).toContain(`{"secret":{"name":"traces-ca","items":[{"key":"ca.crt","path":"traces/ca.crt"}]}}`);
  });

  it("are restricted, limited and probed, and write to volumes only", () => {
    const [deployment] = plan(poolOf("default")).filter(({ kind }) => kind === "Deployment");
    expect(deployment === undefined ? ["none"] : podMistakes(deployment)).toEqual([]);
    expect(deployment).toMatchObject({
      spec: {
        template: {
          spec: {
            volumes: [
              { name: "keys", secret: { secretName: "headwater-runner-default" } },
              { name: "data", emptyDir: { sizeLimit: "2Gi" } },
              { name: "tmp", emptyDir: { sizeLimit: "256Mi" } },
            ],
          },
        },
      },
    });
  });

  it("configure the runner with its pool, its addresses and its egress, and no other role", () => {
    const settings = settingsOf({
      runTimeoutSeconds: 60,
      egressAllow: ["10.9.0.0/16"],
      environment: { HEADWATER_RUN_TIMEOUT: "60", HEADWATER_ROLES: "all" },
    });
    const environment = environmentOf(objectOf("Deployment", poolOf("fast", { owner: "u_a", egressAllow: ["10.1.2.0/24"] }), settings));
    expect(environment).toEqual({
      HEADWATER_ROLES: "runner",
      HEADWATER_POOL: "fast",
      HEADWATER_DATA: "/data",
      HEADWATER_KEYS: "/keys",
      HEADWATER_HEALTH_LISTEN: "0.0.0.0:8081",
      HEADWATER_STOP_TIMEOUT: "60",
      HEADWATER_NATS_CREDENTIALS: "/keys/nats.creds",
      HEADWATER_EGRESS_ALLOW: "10.9.0.0/16,10.1.2.0/24",
      HEADWATER_RUN_TIMEOUT: "60",
      HEADWATER_SANDBOX_JAIL: "required",
      HEADWATER_SANDBOX_SOCKET: "@headwater-sandbox",
      HEADWATER_SANDBOX_USER: "65533",
      NATS_URL: "nats://nats:4222",
    });
  });

  it("run code in a container without keys, NATS settings or the runner's user, which ends after the runner", () => {
    const settings = settingsOf({ environment: { HEADWATER_LOG_LEVEL: "debug", HEADWATER_NATS_DOMAIN: "x" } });
    const deployment = objectOf("Deployment", poolOf("fast"), settings);
    expect(deployment).toMatchObject({
      spec: {
        template: {
          spec: {
            securityContext: { runAsUser: 65_532 },
            initContainers: [
              {
                name: "sandbox",
                restartPolicy: "Always",
                securityContext: { runAsUser: 65_533, runAsGroup: 65_533 },
                volumeMounts: [{ name: "data", mountPath: "/data", readOnly: true }],
                env: [
                  { name: "HEADWATER_ROLES", value: "sandbox" },
                  { name: "HEADWATER_SANDBOX_SOCKET", value: "@headwater-sandbox" },
                  { name: "HEADWATER_HEALTH_LISTEN", value: "0.0.0.0:8082" },
                  { name: "HEADWATER_LOG_LEVEL", value: "debug" },
                ],
              },
            ],
          },
        },
      },
    });
  });

  it("give the runner's container the same resources in every pool", () => {
    const own = poolOf("big", { resources: { requests: { memory: "4Gi" }, limits: { memory: "8Gi" } } });
    expect(objectOf("Deployment", own)).toHaveProperty("spec.template.spec.containers.0.resources", {
      requests: { cpu: "50m", memory: "160Mi" },
      limits: { memory: "1Gi" },
    });
  });

  it("require the jail, unless the pods have a runtime of their own or the settings of the installation say otherwise", () => {
    const jailOf = (spec: Readonly<Record<string, unknown>>, environment: Readonly<Record<string, string>> = {}) =>
      environmentOf(objectOf("Deployment", poolOf("fast", spec), settingsOf({ environment })))["HEADWATER_SANDBOX_JAIL"];
    expect(jailOf({})).toBe("required");
    expect(jailOf({ runtimeClassName: "gvisor" })).toBe("auto");
    expect(jailOf({}, { HEADWATER_SANDBOX_JAIL: "off" })).toBe("off");
  });

  it("spread the pods of each pool over nodes and zones, if there are several", () => {
    const spreadOver = (topologyKey: string) => ({
      topologyKey,
      maxSkew: 1,
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: { "headwater.dev/pool": "fast" } },
    });
    expect(objectOf("Deployment", poolOf("fast"))).toMatchObject({
      spec: {
        template: {
          spec: { topologySpreadConstraints: [spreadOver("kubernetes.io/hostname"), spreadOver("topology.kubernetes.io/zone")] },
        },
      },
    });
  });

  it("wait for a node of their own if spread is required, whatever node is lost", () => {
    expect(objectOf("Deployment", poolOf("fast"), settingsOf({ spread: "required" }))).toMatchObject({
      spec: {
        template: {
          spec: {
            topologySpreadConstraints: [
              { topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "DoNotSchedule", nodeTaintsPolicy: "Honor" },
              { topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" },
            ],
          },
        },
      },
    });
  });

  it("stop as slowly as the longest run, unless the pool limits it", () => {
    const graceOf = (spec: Readonly<Record<string, unknown>>) =>
      objectOf("Deployment", poolOf("fast", spec), settingsOf({ runTimeoutSeconds: 600 }));
    expect(graceOf({})).toMatchObject({ spec: { template: { spec: { terminationGracePeriodSeconds: 605 } } } });
    expect(graceOf({ terminationGracePeriodSeconds: 20 })).toMatchObject({
      spec: { template: { spec: { terminationGracePeriodSeconds: 20 } } },
    });
  });

  it("use the pool's nodes, resources and runtime class, else those of the installation", () => {
    const own = {
      owner: "u_a",
      runtimeClassName: "gvisor",
      nodeSelector: { disk: "fast" },
      tolerations: [{ key: "runners", operator: "Exists" }],
      resources: { limits: { memory: "8Gi", cpu: 2 } },
      terminationGracePeriodSeconds: 300,
    };
    expect(objectOf("Deployment", poolOf("big", own))).toMatchObject({
      spec: {
        template: {
          spec: {
            runtimeClassName: "gvisor",
            nodeSelector: { disk: "fast" },
            tolerations: [{ key: "runners", operator: "Exists" }],
            terminationGracePeriodSeconds: 300,
            initContainers: [{ resources: { limits: { memory: "8Gi", cpu: "2" } } }],
          },
        },
      },
    });
    expect(objectOf("Deployment", poolOf("default"))).toMatchObject({
      spec: { template: { spec: { initContainers: [{ resources: { limits: { memory: "3Gi" } } }] } } },
    });
    expect(objectOf("Deployment", poolOf("small", { resources: { requests: { memory: "400Mi" } } }))).toMatchObject({
      spec: { template: { spec: { initContainers: [{ resources: { requests: { memory: "400Mi" }, limits: { memory: "3Gi" } } }] } } },
    });
  });

  it("leave out a default request above the pool's own limit, which Kubernetes would refuse", () => {
    const tiny = poolOf("tiny", { resources: { limits: { cpu: "100m", memory: "1Gi" } } });
    expect(objectOf("Deployment", tiny)).toHaveProperty("spec.template.spec.initContainers.0.resources", {
      requests: { memory: "512Mi" },
      limits: { cpu: "100m", memory: "1Gi" },
    });
  });

  it("roll out again when the secret changes, but not when the number of replicas does", () => {
    const template = (kept: typeof secret, replicas: number): string => {
      const deployment = plan(poolOf("default"), settingsOf(), kept, replicas).at(-1);
      return JSON.stringify(templateOf(deployment));
    };
    expect(template(secret, 1)).toBe(template(secret, 3));
    expect(template(secret, 1)).not.toBe(template({ ...secret, credentials: "others" }, 1));
  });

  it("contain the secret texts only in the Secret", () => {
    for (const object of plan(poolOf("default"))) {
      if (object.kind === "Secret") continue;
      expect(JSON.stringify(object)).not.toContain(Buffer.from(secret.credentials).toString("base64"));
      expect(JSON.stringify(object)).not.toContain(secret.credentials);
    }
  });
});

describe("the network policy of runners", () => {
  const policy = (spec: Readonly<Record<string, unknown>>, settings = settingsOf()) =>
    objectOf("NetworkPolicy", poolOf("fast", { owner: "u_a", ...spec }), settings);

  it("allows NATS, DNS and the public internet, and no incoming connections", () => {
    const text = JSON.stringify(policy({}));
    expect(policy({})).toMatchObject({
      spec: {
        policyTypes: ["Ingress", "Egress"],
        ingress: [],
        egress: [
          { to: [{ podSelector: { matchLabels: { app: "nats" } } }], ports: [{ port: 4_222 }] },
          { ports: [{ port: 53 }, { port: 53 }] },
          {},
        ],
      },
    });
    for (const network of ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8", "100.64.0.0/10"])
      expect(text).toContain(`"${network}"`);
  });

  it("excludes the cluster's networks if they have public addresses, in both address families", () => {
    const settings = settingsOf({ ipv6: true, blockedCidrs: ["8.8.0.0/16", "2606:4700::/32", "fd00::/8"] });
    const { v4, v6 } = exceptions(policy({}, settings));
    expect(v4).toContain("8.8.0.0/16");
    expect(v6).toContain("2606:4700::/32");
    expect(v6).not.toContain("fd00::/8");
    expect(v4).not.toContain("2606:4700::/32");
  });

  it("contains no IPv6 rules if pods have no IPv6", () => {
    const text = JSON.stringify(policy({ egressAllow: ["fd00::/8", "10.1.2.0/24"] }, settingsOf({ blockedCidrs: ["2606:4700::/32"] })));
    expect(text).not.toContain("::");
    expect(text).toContain("10.1.2.0/24");
  });

  it("allows the private ranges of the pool and of the installation", () => {
    const text = JSON.stringify(policy({ egressAllow: ["10.1.2.0/24"] }, settingsOf({ egressAllow: ["10.9.0.0/16"] })));
    expect(text).toContain('{"ipBlock":{"cidr":"10.1.2.0/24"}}');
    expect(text).toContain('{"ipBlock":{"cidr":"10.9.0.0/16"}}');
  });

  it("allows the installation's trace collector", () => {
    const collector = { peers: [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }], ports: [4_318] };
    const { spec } = policy({}, settingsOf({ collector })) as { spec: { egress: readonly object[] } };
    expect(spec.egress).toContainEqual({ to: collector.peers, ports: [{ protocol: "TCP", port: 4_318 }] });
  });

  it("lets the installation's scrapers read metrics", () => {
    const scrapedBy = [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }];
    expect(policy({}, settingsOf({ scrapedBy }))).toMatchObject({ spec: { ingress: [{ from: scrapedBy, ports: [{ port: 8_081 }] }] } });
  });
});

function templateOf(deployment: unknown): unknown {
  const { spec } = deployment as { spec: { template: unknown } };
  return spec.template;
}

function environmentOf(deployment: unknown): Readonly<Record<string, string>> {
  const { spec } = templateOf(deployment) as { spec: { containers: { env: { name: string; value: string }[] }[] } };
  return Object.fromEntries((spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]));
}

function exceptions(policy: object): { v4: readonly string[]; v6: readonly string[] } {
  const { spec } = policy as { spec: { egress: { to: { ipBlock?: { cidr: string; except?: string[] } }[] }[] } };
  const blocks = spec.egress.at(-1)?.to.flatMap(({ ipBlock }) => ipBlock ?? []) ?? [];
  const of = (cidr: string): readonly string[] => blocks.find((block) => block.cidr === cidr)?.except ?? [];
  return { v4: of("0.0.0.0/0"), v6: of("2000::/3") };
}
