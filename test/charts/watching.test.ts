import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { registeredMetrics, type RegisteredMetric } from "../docs/registered-metrics.ts";
import { chart, findProgram, renderObjects } from "../support/helm.ts";
import { parseExpression } from "./promql.ts";

/**
 * The alerts and the dashboard of the chart ask for metrics and labels that there are. Method: their expressions are read, and compared
 * with what the roles' own registries hold, whatever happens to be counted in them.
 */
const root = join(chart, "../..");
const alertSchema = z.strictObject({
  alert: z.string().regex(/^Headwater[A-Za-z]+$/),
  expr: z.string(),
  for: z.string().regex(/^\d+m$/),
  labels: z.strictObject({ severity: z.enum(["critical", "warning"]) }),
  annotations: z.strictObject({
    summary: z.string().min(10),
    description: z.string().min(20),
    runbook_url: z.string().startsWith("$runbooks#"),
  }),
});
const rulesSchema = z.object({ groups: z.array(z.object({ rules: z.array(alertSchema) })) });
const panelSchema = z.object({
  id: z.number(),
  type: z.enum(["row", "timeseries"]),
  title: z.string(),
  gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  targets: z.array(z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string() })).optional(),
});
const dashboardSchema = z.object({
  panels: z.array(panelSchema),
  templating: z.object({ list: z.array(z.looseObject({ name: z.string() })) }),
});

const alertsText = readFileSync(join(chart, "files/alerts.yaml"), "utf8");
const alerts = rulesSchema.parse(parse(alertsText)).groups.flatMap(({ rules }) => rules);
const runbooks = readFileSync(join(root, "docs/runbooks.md"), "utf8");
const dashboardText = readFileSync(join(chart, "files/dashboard.json"), "utf8");
const dashboard = dashboardSchema.parse(JSON.parse(dashboardText));
const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));

/** Labels that the scrape adds. */
const scrapeLabels = ["job", "instance", "namespace", "pod", "container"];
/** Of kube-state-metrics and the kubelet, as their documentation has them. */
const foreign: Readonly<Record<string, readonly string[]>> = {
  kube_cronjob_created: ["cronjob"],
  kube_cronjob_status_last_successful_time: ["cronjob"],
  kube_deployment_status_replicas_unavailable: ["deployment"],
  kube_statefulset_replicas: ["statefulset"],
  kube_statefulset_status_replicas_ready: ["statefulset"],
  kubelet_volume_stats_available_bytes: ["persistentvolumeclaim"],
  kubelet_volume_stats_capacity_bytes: ["persistentvolumeclaim"],
};
const metrics = await registeredMetrics();

/** Labels of a series, or undefined when there is no such series. */
function labelsOf(series: string): readonly string[] | undefined {
  const outside = foreign[series];
  if (outside !== undefined) return [...outside, ...scrapeLabels];
  const found = metrics.find((metric) => seriesOf(metric).includes(series));
  return found && [...found.labels, ...scrapeLabels, ...(series.endsWith("_bucket") ? ["le"] : [])];
}

const seriesOf = ({ name, type }: RegisteredMetric): readonly string[] =>
  type === "histogram" ? ["_bucket", "_count", "_sum"].map((end) => name + end) : [name];

/** What is wrong with an expression. */
function mistakes(text: string): readonly string[] {
  const { selectors, grouping } = parseExpression(text);
  if (selectors.length === 0) return [`no metric in ${text}`];
  return selectors.flatMap(({ metric, labels }) => {
    const known = labelsOf(metric);
    if (known === undefined) return [`there is no metric ${metric}`];
    return [...labels, ...grouping].filter((label) => !known.includes(label)).map((label) => `${metric} has no label ${label}`);
  });
}

describe("the alerts of the chart", () => {
  it.each(alerts)("$alert asks for metrics and labels that there are", ({ expr }) => {
    expect(mistakes(expr)).toEqual([]);
  });

  it.each(alerts.filter(({ expr }) => expr.includes("le=~")))("$alert compares buckets that the histogram has", ({ expr }) => {
    const compared = [...expr.matchAll(/(\w+)_bucket\{[^}]*le=~"(\d+)\(\.0\)\?"/g)];
    expect(compared).toHaveLength(2);
    // Prometheus 3 stores the bucket 5 as 5.0.
    for (const [, name, bucket] of compared) expect(metrics.find((metric) => metric.name === name)?.buckets).toContain(Number(bucket));
  });

  it("have four burn rates of the objectives, each over a long and a short window", () => {
    const rates = alerts.flatMap(({ alert, expr }) => {
      const [, factor] = / > (0\.\d+) and /.exec(expr) ?? [];
      const windows = [...new Set(expr.match(/(?<=\[)\w+(?=\])/g))];
      return /Late(Fast|Slow)$/.test(alert) ? [[alert.replace(/^.*Late/, ""), factor, ...windows]] : [];
    });
    const [fast, slow] = [
      ["Fast", "0.144", "1h", "5m"],
      ["Slow", "0.06", "6h", "30m"],
    ];
    expect(rates).toEqual([fast, slow, fast, slow]);
  });

  it("have one section each in docs/runbooks.md, which their runbook_url names", () => {
    const sections = runbooks.split(/^## /m).slice(1);
    expect(sections.map((text) => text.split("\n", 1)[0])).toEqual(alerts.map(({ alert }) => alert));
    for (const text of sections) expect(text).toMatch(/\*\*Check\*\*\n- [\s\S]+\*\*Do\*\*\n- /);
    // The anchor of a heading is its text in lower case.
    for (const { alert, annotations } of alerts) expect(annotations.runbook_url).toBe(`$runbooks#${alert.toLowerCase()}`);
  });

  it("equal those of docs/operations.md", () => {
    const page = readFileSync(join(root, "docs/operations.md"), "utf8");
    const [, section = ""] = /^### Alerts\n([\s\S]*?)^### /m.exec(page) ?? [];
    const documented = [...section.matchAll(/^\| `Headwater.*$/gm)].map(([row]) => row);
    const here = (text: string): string => text.replaceAll("$namespace", "headwater");
    const wait = (text: string): string => (text === "0m" ? "at once" : text.replace("m", " min"));
    const written = alerts.map(
      (alert) => `| \`${alert.alert}\` | \`${here(alert.expr)}\` | ${wait(alert.for)} | ${here(alert.annotations.description)} |`,
    );
    expect(documented).toEqual(written);
  });

  it("name operations that are logged, and so do their runbooks", () => {
    const named = alerts.flatMap(({ annotations }) => annotations.description.match(/(?<=`)[a-z]+\.[a-z_]+(?=`)/g) ?? []);
    const inRunbooks = (runbooks.match(/(?<=`)[a-z]+\.[a-z_]+(?=`)/g) ?? []).filter((name) => name !== "operations.md");
    const fields = ["http.route", "request.id"];
    const folders = ["api", "ingress", "operator", "runner", "delivery", "platform", "wiring"];
    const sources = folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => readFileSync(join(root, folder, name), "utf8")),
    );
    const isLogged = (name: string): boolean => sources.some((text) => text.includes(`"${name}"`));
    expect(named.length).toBeGreaterThan(5);
    expect([...named, ...inRunbooks].filter((name) => !fields.includes(name) && !isLogged(name))).toEqual([]);
    expect(fields.filter((name) => !sources.some((text) => text.includes(`"${name}"`)))).toEqual([]);
  });

  it("have runbooks whose routes, settings and metrics exist", () => {
    const routes = runbooks.match(/(?<=`)(GET|POST|PUT|DELETE) \/v1[^`]*(?=`)/g) ?? [];
    const known = readFileSync(join(root, "client/generated/operations.ts"), "utf8");
    const isRoute = (route: string): boolean => {
      const [method = "", path = ""] = route.split(" ");
      return known.includes(`method: "${method}", path: "${path}"`);
    };
    expect(routes.length).toBeGreaterThan(3);
    expect(routes.filter((route) => !isRoute(route))).toEqual([]);
    const page = readFileSync(join(root, "docs/operations.md"), "utf8");
    const settings = runbooks.match(/HEADWATER_[A-Z_]+/g) ?? [];
    expect(settings.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
    const series = runbooks.match(/headwater_[a-z_]+/g) ?? [];
    expect(series.filter((name) => !metrics.some((metric) => metric.name === name))).toEqual([]);
  });
});

describe("the dashboard of the chart", () => {
  it("links the series of a pool to the pool in the console", () => {
    const models = JSON.parse(dashboardText) as {
      readonly panels: readonly {
        readonly title: string;
        readonly fieldConfig?: { readonly defaults: { readonly links?: readonly { readonly url: string }[] } };
      }[];
    };
    const linked = models.panels.filter(({ fieldConfig }) => fieldConfig?.defaults.links !== undefined);
    expect(linked.map(({ title }) => title)).toContain("Backlog of pools");
    for (const { fieldConfig } of linked)
      expect(fieldConfig?.defaults.links?.[0]?.url).toBe("${console}/operations?pool=${__field.labels.pool}");
  });

  it.each(queries)("$title: asks for metrics and labels that there are ($legendFormat)", ({ expr, legendFormat }) => {
    expect(mistakes(expr)).toEqual([]);
    const { grouping, selectors } = parseExpression(expr);
    expect((legendFormat.match(/(?<=\{\{)\w+(?=\}\})/g) ?? []).filter((label) => !grouping.includes(label))).toEqual([]);
    for (const { labels } of selectors) expect(labels).toContain("job");
  });

  it("shows every role, and each metric that no other one implies", () => {
    const shown = new Set(queries.flatMap(({ expr }) => parseExpression(expr).selectors.map(({ metric }) => metric)));
    const ours = metrics.filter(({ name }) => name.startsWith("headwater_"));
    const implied = [
      "headwater_controller_queue_adds_total",
      "headwater_controller_queue_retries_total",
      "headwater_controller_queue_seconds",
      "headwater_mirror_pending",
    ];
    expect(ours.filter((metric) => !seriesOf(metric).some((series) => shown.has(series))).map(({ name }) => name)).toEqual(implied);
  });

  it("has panels that do not overlap, with unique ids", () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)}:${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  it("defines the variables of its expressions", () => {
    const named = new Set(dashboardText.match(/(?<=\$\{?)(?!__)[a-z]+/g));
    expect(dashboard.templating.list.map(({ name }) => name).toSorted()).toEqual([...named].toSorted());
  });
});

const missing = findProgram("helm") === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : "";
(missing === "" ? describe : describe.skip)(`the chart${missing}`, () => {
  const find = async (kind: string, name: string, ...flags: readonly string[]) =>
    (await renderObjects("--set", "crds.install=false", ...flags)).find((each) => each.kind === kind && each.metadata.name === name);

  it("creates neither rules nor a dashboard by default", async () => {
    expect(await find("PrometheusRule", "headwater")).toBeUndefined();
    expect(await find("ConfigMap", "headwater-dashboard")).toBeUndefined();
  });

  it("creates a PrometheusRule with the release's namespace", async () => {
    const rule = await find("PrometheusRule", "headwater", "--set", "alerts.enabled=true", "--namespace", "elsewhere");
    const expected = alertsText.replaceAll("$namespace", "elsewhere").replaceAll(/^ *runbook_url: .*\n/gm, "");
    expect(rule?.["spec"]).toEqual(parse(expected));
    expect(JSON.stringify(rule)).toContain('namespace=\\"elsewhere\\"');
  });

  it("gives each alert the address of its runbook", async () => {
    const pages = "https://runbooks.example.com/headwater";
    const rule = await find("PrometheusRule", "headwater", "--set", "alerts.enabled=true", "--set", `alerts.runbooks=${pages}`);
    const text = alertsText.replaceAll("$namespace", "headwater").replaceAll("$runbooks", pages);
    expect(rule?.["spec"]).toEqual(parse(text));
    expect(JSON.stringify(rule)).toContain(`"runbook_url":"${pages}#headwaternoleader"`);
  });

  it("creates a ConfigMap that Grafana's sidecar finds", async () => {
    const map = await find("ConfigMap", "headwater-dashboard", "--set", "dashboards.enabled=true");
    expect(map?.metadata["labels"]).toMatchObject({ grafana_dashboard: "1" });
    const { data } = z.object({ data: z.record(z.string(), z.string()) }).parse(map);
    expect(JSON.parse(data["headwater.json"] ?? "")).toEqual(JSON.parse(dashboardText));
  });
});

describe("the reader of expressions", () => {
  it.each([
    ["sum(rate(a[5m])", "is missing at the end"],
    ["sum(rate(a[5m]}", "do not fit"],
    ["sums(a)", "no known function"],
    ["rate(a[five])", "no range"],
    ["a{b}", "no matcher"],
    ["sum by (x", "is missing at the end"],
    ["a ; b", "not understood"],
    ["max", "is not called"],
  ])("refuses %s", (text, words) => {
    expect(() => parseExpression(text)).toThrow(words);
  });

  it("finds metrics, labels and groupings", () => {
    const read = parseExpression('sum by (le, x) (rate(a_bucket{y="1, 2", z!~"."}[5m])) > 0.5 * scalar(b) unless on (x) c');
    expect(read).toEqual({
      selectors: [
        { metric: "a_bucket", labels: ["y", "z"] },
        { metric: "b", labels: [] },
        { metric: "c", labels: [] },
      ],
      grouping: ["le", "x", "x"],
    });
  });
});
