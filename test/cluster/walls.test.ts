import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { askProbe, call, deploy, namespace, probeAddress, request, startProbe } from "./installation.ts";
import { get, kubectl, list, tryKubectl } from "./kubectl.ts";

/** What user code could do, inside its isolate and after a break out of it: as a process with a runner pod's labels and rights. */
const runnerLabels = {
  "app.kubernetes.io/instance": "headwater",
  "app.kubernetes.io/component": "runner",
  "headwater.dev/pool": "default",
};
const reaches = `export default { name: "Reaches", props: { http: { type: "$.interface.http", customResponse: true } },
  async run({ body }) {
    try { const { status } = await fetch(body.url); this.http.respond({ status: 200, body: "reached " + status }); }
    catch (error) { this.http.respond({ status: 200, body: "refused " + error.message + " " + (error.cause?.message ?? "") }); }
  } };`;

const addresses: Record<string, string> = {};
let endpoint = "";

beforeAll(async () => {
  const clusterIp = async (name: string, inNamespace: string): Promise<string> =>
    z.object({ clusterIP: z.string() }).parse((await get("service", name, inNamespace))["spec"]).clusterIP;
  const podIp = async (component: string): Promise<string> =>
    String((await list("pods", "-n", namespace, "-l", `app.kubernetes.io/component=${component}`))[0]?.status?.["podIP"]);
  addresses["the API server"] = `${await clusterIp("kubernetes", "default")}:443`;
  addresses["Postgres"] = `${await podIp("postgres")}:5432`;
  addresses["the API's pods"] = `${await podIp("api")}:3000`;
  addresses["the ingress's pods"] = `${await podIp("ingress")}:3001`;
  addresses["the health port of the operator"] = `${await podIp("operator")}:8081`;
  addresses["the monitor of NATS"] = `${await podIp("nats")}:8222`;
  addresses["NATS"] = `${await podIp("nats")}:4222`;
  addresses["another runner"] = `${await podIp("runner")}:8081`;
  addresses["metadata of the cloud"] = "169.254.169.254:80";
  ({ endpoint } = await deploy("reaches", reaches));
  await startProbe("broken-out", namespace, runnerLabels);
});
afterAll(async () => {
  await tryKubectl(["-n", namespace, "delete", "pod/broken-out", "configmap/probe", "--ignore-not-found"]);
});

const forbidden = [
  "the API server",
  "Postgres",
  "the API's pods",
  "the ingress's pods",
  "the health port of the operator",
  "the monitor of NATS",
  "another runner",
  "metadata of the cloud",
];

describe("isolation of user code", () => {
  it.each([...forbidden, "NATS"])("keeps a component's fetch from %s", async (what) => {
    const { text } = await request(endpoint, "POST", JSON.stringify({ url: `http://${addresses[what]}/` }), {
      "content-type": "application/json",
    });
    expect(text).toMatch(/refused .*egress to/);
  });

  it.each(forbidden)("keeps a process in a runner pod from %s", async (what) => {
    const [host, port] = addresses[what]?.split(":") ?? [];
    const outcome = await broken(host, Number(port));
    expect(["timeout", "EHOSTUNREACH", "ECONNREFUSED", "ENETUNREACH"]).toContain(outcome);
  });

  it("lets a process in a runner pod reach NATS and allowed addresses", async () => {
    const [host, port] = addresses["NATS"]?.split(":") ?? [];
    expect(await broken(host, Number(port))).toBe("reached");
    const [probe, at] = (await probeAddress()).split(":");
    expect(await broken(probe, Number(at))).toBe("reached");
  });

  it("gives runner pods no token, no shell, and write access to their own folders only", async () => {
    const [runner] = await list("pods", "-n", namespace, "-l", "app.kubernetes.io/component=runner,pod-template-hash");
    const spec = z
      .looseObject({ automountServiceAccountToken: z.boolean(), volumes: z.array(z.record(z.string(), z.unknown())) })
      .parse(runner?.["spec"]);
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.volumes.some((volume) => "projected" in volume || "hostPath" in volume)).toBe(false);
    const run = (script: string) => tryKubectl(["-n", namespace, "exec", runner?.metadata.name ?? "", "--", "node", "-e", script]);
    expect((await run(`console.log(require("fs").existsSync("/var/run/secrets/kubernetes.io/serviceaccount/token"))`)).stdout.trim()).toBe(
      "false",
    );
    expect((await run(`require("fs").writeFileSync("/app/main.ts", "")`)).stderr).toContain("EROFS");
    expect((await run(`console.log(process.getuid())`)).stdout.trim()).toBe("65532");
    const walls = `const { existsSync } = require("fs"); console.log(process.getuid(), existsSync("/keys"), Object.keys(process.env).join())`;
    const { stdout: sandbox } = await tryKubectl([
      "-n",
      namespace,
      "exec",
      runner?.metadata.name ?? "",
      "-c",
      "sandbox",
      "--",
      "node",
      "-e",
      walls,
    ]);
    expect(sandbox).toMatch(/^65533 false /);
    expect(sandbox).not.toContain("NATS");
    expect((await tryKubectl(["-n", namespace, "exec", runner?.metadata.name ?? "", "--", "sh", "-c", "true"])).code).not.toBe(0);
  });

  it("refuses requests without a key", async () => {
    expect((await request(`http://headwater-api.${namespace}.svc/v1/users/me`)).status).toBe(401);
    expect((await call("GET", "/users/me")).status).toBe(200);
  });

  it("runs all pods under the profile restricted", async () => {
    const { stderr } = await tryKubectl([
      "label",
      "--dry-run=server",
      "--overwrite",
      "namespace",
      namespace,
      "pod-security.kubernetes.io/enforce=restricted",
    ]);
    expect(stderr).not.toContain("violate");
    expect(
      await kubectl([
        "auth",
        "can-i",
        "list",
        "secrets",
        "--all-namespaces",
        `--as=system:serviceaccount:${namespace}:headwater-operator`,
      ]).catch((error: unknown) => String(error)),
    ).toContain("no");
  });
});

async function broken(host: string | undefined, port: number): Promise<string> {
  return z.object({ outcome: z.string() }).parse(await askProbe("/reach", { host, port, timeoutMs: 2_000 }, "broken-out", namespace))
    .outcome;
}
