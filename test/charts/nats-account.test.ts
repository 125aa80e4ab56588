import { describe, expect, it } from "vitest";
import { z } from "zod";
import { chart, findProgram, helm, renderObjects } from "../support/helm.ts";

const missing = findProgram("helm") === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : "";
const suite = missing === "" ? describe : describe.skip;

const own = ["--set", "nats.enabled=false,nats.url=tls://connect.example.com,nats.peers[0].ipBlock.cidr=10.1.0.0/24"];
const account = [...own, "--set", "nats.credentialsSecret=team-nats,nats.prefix=acme,nats.domain=hub"];

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
  it("gives each role the Secret of its user, and the operator that of the runners as well", async () => {
    const flags = [...account, "--set", "nats.credentials=perRole"];
    const api = await roleOf("Deployment", "headwater-api", flags);
    expect(api.sources).toEqual([secret("team-nats-api", "api.creds")]);
    expect(api.mount).toBe("/nats");
    expect(api.environment).toMatchObject({
      NATS_URL: "tls://connect.example.com",
      HEADWATER_NATS_ACCOUNT: "perRole",
      HEADWATER_NATS_CREDENTIALS: "/nats",
      HEADWATER_NATS_DOMAIN: "hub",
      HEADWATER_NATS_PREFIX: "acme",
    });
    const operators = [secret("team-nats-operator", "operator.creds"), secret("team-nats-runner", "runner.creds")];
    expect((await roleOf("Deployment", "headwater-operator", flags)).sources).toEqual(operators);
    expect((await roleOf("Job", "headwater-setup", flags)).sources).toEqual(operators);
  });

  it("gives the backup the Secret of its user, also to restore before the setup", async () => {
    const flags = [...account, "--set", "nats.credentials=perRole,backup.enabled=true,backup.restore=2026-11-27T02-17-01-204Z"];
    const backup = secret("team-nats-backup", "backup.creds");
    expect((await roleOf("CronJob", "headwater-backup", flags)).sources).toEqual([backup]);
    const setup = [secret("team-nats-operator", "operator.creds"), secret("team-nats-runner", "runner.creds"), backup];
    expect((await roleOf("Job", "headwater-setup", flags)).sources).toEqual(setup);
  });

  it("gives all roles one Secret only if that is chosen", async () => {
    const { sources, environment } = await roleOf("Deployment", "headwater-ingress", [...account, "--set", "nats.credentials=shared"]);
    expect(sources).toEqual([secret("team-nats", "nats.creds")]);
    expect(environment).toMatchObject({ HEADWATER_NATS_ACCOUNT: "shared", HEADWATER_NATS_CREDENTIALS: "/nats/nats.creds" });
  });

  it("gives runner pods its names", async () => {
    const objects = await renderObjects(...account, "--set", "nats.credentials=perRole");
    const found = objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "headwater-runner-pods");
    const { data } = z.object({ data: z.object({ "runner-pods.json": z.string() }) }).parse(found);
    expect(JSON.parse(data["runner-pods.json"])).toMatchObject({
      environment: { HEADWATER_NATS_ACCOUNT: "perRole", HEADWATER_NATS_DOMAIN: "hub", HEADWATER_NATS_PREFIX: "acme" },
    });
  });

  it("changes nothing of an installation whose accounts Headwater signs", async () => {
    const { sources, mount, environment } = await roleOf("Deployment", "headwater-api", own);
    expect([sources, mount, environment["HEADWATER_NATS_ACCOUNT"]]).toEqual([undefined, undefined, undefined]);
    expect(environment["HEADWATER_NATS_CREDENTIALS"]).toBe("/keys/nats.creds");
  });

  it.each([
    [["--set", "nats.credentials=shared,nats.credentialsSecret=one"], "nats.credentials is for NATS of your own"],
    [[...account], "set nats.credentials to perRole or shared"],
    [[...own, "--set", "nats.credentials=shared"], "nats.credentialsSecret is needed with nats.credentials"],
  ])("refuses %j", async (flags, message) => {
    const { code, stderr } = await helm(["template", "headwater", chart, ...flags]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });
});
