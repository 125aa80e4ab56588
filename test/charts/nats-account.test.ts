import { describe, expect, it } from "vitest";
import { z } from "zod";
import { chart, findProgram, helm, renderObjects } from "../support/helm.ts";

const missing = findProgram("helm") === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : "";
const suite = missing === "" ? describe : describe.skip;

const own = ["--set", "nats.enabled=false,nats.url=tls://connect.example.com,nats.peers[0].ipBlock.cidr=10.1.0.0/24"];
const account = [...own, "--set", "nats.credentialsSecret=team-nats,nats.domain=hub"];

const podTemplate = z.object({
  spec: z.object({
    containers: z.tuple([
      z.object({
        env: z.array(z.object({ name: z.string(), value: z.string().optional() })),
        volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
      }),
    ]),
    volumes: z.array(z.object({ name: z.string(), projected: z.object({ sources: z.array(z.json()) }).optional() })),
  }),
});
const withTemplate = z.object({ spec: z.object({ template: podTemplate }) });
const cronJob = z.object({ spec: z.object({ jobTemplate: withTemplate }) });
const workload = z.union([withTemplate, cronJob.transform(({ spec }) => spec.jobTemplate)]);

interface Role {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly sources: readonly unknown[] | undefined;
  readonly mount: string | undefined;
}

async function roleOf(kind: string, name: string, flags: readonly string[]): Promise<Role> {
  const found = (await renderObjects(...flags)).find((object) => object.kind === kind && object.metadata.name.startsWith(name));
  const { containers, volumes } = workload.parse(found).spec.template.spec;
  return {
    environment: Object.fromEntries(containers[0].env.map((entry) => [entry.name, entry.value])),
    sources: volumes.find((volume) => volume.name === "nats")?.projected?.sources,
    mount: containers[0].volumeMounts.find((mount) => mount.name === "nats")?.mountPath,
  };
}

const secret = (name: string, path: string): object => ({ secret: { name, items: [{ key: "nats.creds", path }] } });

suite(`an account of NATS of your own${missing}`, () => {
  it("gives all roles, setup and backups its Secret", async () => {
    const flags = [...account, "--set", "nats.credentials=shared,backup.enabled=true,backup.restore=2026-11-27T02-17-01-204Z"];
    for (const [kind, name] of [
      ["Deployment", "headwater-api"],
      ["Deployment", "headwater-operator"],
      ["Job", "headwater-setup"],
      ["CronJob", "headwater-backup"],
    ] as const) {
      const { sources, mount, environment } = await roleOf(kind, name, flags);
      expect(sources, name).toEqual([secret("team-nats", "nats.creds")]);
      expect(mount, name).toBe("/nats");
      expect(environment, name).toMatchObject({
        NATS_URL: "tls://connect.example.com",
        HEADWATER_NATS_ACCOUNT: "shared",
        HEADWATER_NATS_CREDENTIALS: "/nats/nats.creds",
        HEADWATER_NATS_DOMAIN: "hub",
      });
    }
  });

  it("gives runner pods its names", async () => {
    const objects = await renderObjects(...account, "--set", "nats.credentials=shared");
    const found = objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "headwater-runner-pods");
    const { data } = z.object({ data: z.object({ "runner-pods.json": z.string() }) }).parse(found);
    expect(JSON.parse(data["runner-pods.json"])).toMatchObject({
      environment: { HEADWATER_NATS_ACCOUNT: "shared", HEADWATER_NATS_DOMAIN: "hub" },
    });
  });

  it("changes nothing of an installation whose accounts Headwater signs", async () => {
    const { sources, mount, environment } = await roleOf("Deployment", "headwater-api", own);
    expect([sources, mount, environment["HEADWATER_NATS_ACCOUNT"]]).toEqual([undefined, undefined, undefined]);
    expect(environment["HEADWATER_NATS_CREDENTIALS"]).toBe("/keys/nats.creds");
  });

  it.each([
    [["--set", "nats.credentials=shared,nats.credentialsSecret=one"], "nats.credentials is for NATS of your own"],
    [[...account], "set nats.credentials to shared"],
    [[...account, "--set", "nats.credentials=perRole"], "it must be shared or empty; in an account of yours all roles have one user"],
    [
      [...account, "--set", "nats.credentials=shared,nats.prefix=acme"],
      "nats.prefix is no longer a value: give Headwater an account of NATS of its own",
    ],
    [[...own, "--set", "nats.credentials=shared"], "nats.credentialsSecret is needed with nats.credentials"],
  ])("refuses %j", async (flags, message) => {
    const { code, stderr } = await helm(["template", "headwater", chart, ...flags]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });
});
