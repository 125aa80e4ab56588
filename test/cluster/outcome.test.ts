import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { until } from "../support/until.ts";
import { helm } from "../support/helm.ts";
import { askProbe, call, deploy, makeNamespace, namespace, newOwnerOf, owned, request, report } from "./installation.ts";
import { conditionOf, get, isReady, kubectl, list } from "./kubectl.ts";
import { countingSources, expectNothingLost, startLoad } from "./load.ts";

const examples = join(import.meta.dirname, "..", "..", "docs/examples/kubernetes");
/** One that is wrong on purpose, and those that want nodes or Secrets of the reader's own. */
const notApplied = ["errors.yaml", "runner-pool.yaml"];
const sourcesSchema = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) });

const code = (text: string): string =>
  `export default { name: "Says", props: { http: { type: "$.interface.http", customResponse: true } }, run() { this.http.respond({ status: 200, body: "${text}" }); } };`;

describe("an installation, over kubectl and REST", () => {
  it("reports every example as ready", async () => {
    for (const file of readdirSync(examples).filter((name) => name.endsWith(".yaml") && !notApplied.includes(name)))
      await kubectl(["-n", owned, "apply", "-f", join(examples, file)]);
    await kubectl(["-n", owned, "wait", "--for=condition=Ready", "sources,components,subscriptions,webhooks", "--all", "--timeout=120s"]);
    for (const source of await list("sources", "-n", owned)) expect(isReady(source), JSON.stringify(source.status)).toBe(true);
  });

  it("runs an applied source in a runner pod, and delivers its events to a webhook", async () => {
    const sources = await countingSources("story", 1);
    const load = await startLoad(sources, 20);
    await load.more(40);
    await expectNothingLost(await load.stop());
    const runners = await list("pods", "-n", "headwater", "-l", "app.kubernetes.io/component=runner");
    expect(runners.some(isReady)).toBe(true);
    await kubectl(["-n", owned, "delete", "source/story-0", "webhook/story-0", "subscription/story-0"]);
  });

  it("shows an applied source over REST, and a source of REST in kubectl", async () => {
    const applied = await deploy("by-kubectl", code("one"));
    const shown = sourcesSchema.parse(JSON.parse((await call("GET", "/users/me/sources?limit=100")).text));
    expect(shown.data.map(({ id }) => id)).toContain(applied.id);

    const made = await call("POST", "/sources", { component_code: code("two"), name: "By REST" });
    expect(made.status, made.text).toBe(200);
    const { data } = z.object({ data: z.object({ id: z.string() }) }).parse(JSON.parse(made.text));
    const there = (await list("sources", "-n", owned)).find(({ status }) => status?.["id"] === data.id);
    expect(there !== undefined && isReady(there)).toBe(true);
    expect((await request(String(there?.status?.["endpoint"]), "POST", "{}")).text).toBe("two");

    await kubectl(["-n", owned, "delete", "source", there?.metadata.name ?? ""]);
    await until(async () => (await call("GET", `/sources/${data.id}`)).status === 404, "what kubectl deletes is gone from REST");
    expect((await call("DELETE", `/sources/${applied.id}`)).status).toBe(204);
    await until(
      async () => !(await list("sources", "-n", owned)).some(({ metadata }) => metadata.name === "by-kubectl"),
      "what REST deletes is gone from kubectl",
    );
  });

  it("prints commands in NOTES that work as pasted", async () => {
    const { stdout } = await helm(["get", "notes", "headwater", "--namespace", namespace]);
    const commands = stdout.split("\n").filter((line) => line.startsWith("  "));
    expect(commands).toHaveLength(3);
    // What a shell leaves in the background ends with it.
    const script = ["set -m", "trap 'kill %1' EXIT", ...commands].join("\n");
    const { stdout: shown } = await promisify(execFile)("bash", ["-c", script], { timeout: 30_000 });
    expect(shown).toContain('"username"');
    expect(shown).toContain("source.headwater.dev/");
  });

  it("reports NamespaceHasNoOwner until the namespace gets an owner, who has confirmed it", async () => {
    await makeNamespace("headwater-test-unowned");
    const source = {
      apiVersion: "headwater.dev/v1alpha1",
      kind: "Source",
      metadata: { name: "orphan", namespace: "headwater-test-unowned" },
      spec: { code: code("x") },
    };
    await kubectl(["apply", "-f", "-"], JSON.stringify(source));
    const reason = async () => conditionOf(await get("source", "orphan", "headwater-test-unowned"), "Ready")?.reason;
    await until(async () => (await reason()) === "NamespaceHasNoOwner", "the condition says why");
    await kubectl(["label", "namespace", "headwater-test-unowned", `headwater.dev/owner=${await newOwnerOf("headwater-test-unowned")}`]);
    await kubectl(["-n", "headwater-test-unowned", "wait", "--for=condition=Ready", "source/orphan", "--timeout=60s"]);
    await kubectl(["delete", "namespace", "headwater-test-unowned"], "", 120_000);
  });

  it("serves a source within seconds of kubectl apply, including its build", async () => {
    const times: number[] = [];
    const common = { apiVersion: "headwater.dev/v1alpha1" };
    const component = { ...common, kind: "Component", metadata: { name: "quick", namespace: owned }, spec: { code: code("quick") } };
    await kubectl(["apply", "-f", "-"], JSON.stringify(component));
    await kubectl(["-n", owned, "wait", "--for=condition=Ready", "component/quick", "--timeout=60s"]);
    for (let n = 0; n < 5; n++) {
      const name = `quick-${n}`;
      const startedAt = Date.now();
      await kubectl(
        ["apply", "-f", "-"],
        JSON.stringify({ ...common, kind: "Source", metadata: { name, namespace: owned }, spec: { componentRef: { name: "quick" } } }),
      );
      await until(async () => typeof (await get("source", name, owned)).status?.["endpoint"] === "string", "it has an endpoint");
      const { at } = z
        .object({ at: z.number() })
        .parse(await askProbe("/until", { url: (await get("source", name, owned)).status?.["endpoint"] }));
      expect(at).toBeGreaterThan(0);
      times.push(at - startedAt);
    }
    report(`kubectl apply of a Source to an answering endpoint: ${times.join(", ")} ms`);
    await kubectl(["-n", owned, "delete", "sources", ...times.map((_, n) => `quick-${n}`)]);
  });
});
