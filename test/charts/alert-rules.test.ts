import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { chart, findProgram } from "../support/helm.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/**
 * Each alert of the chart fires for series of its failure, and none fires for those of a healthy installation. Method: promtool evaluates
 * the rules over series of six and more hours.
 */
const promtool = findProgram("promtool");
const suite = promtool === undefined ? describe.skip : describe;
const why = promtool === undefined ? " (skipped: promtool was not found on PATH; Debian's package is prometheus)" : "";

const ruleSchema = z.object({
  alert: z.string(),
  expr: z.string(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
});
const text = readFileSync(join(chart, "files/alerts.yaml"), "utf8")
  .replaceAll("$namespace", "headwater")
  .replaceAll("$runbooks", "https://x.test/");
const rules = z
  .object({ groups: z.array(z.object({ rules: z.array(ruleSchema) })) })
  .parse(parse(text))
  .groups.flatMap((group) => group.rules);

/** Values of a series, one a minute, as promtool writes them: `0+60x480` grows by 60 for 480 minutes. */
type Series = Readonly<Record<string, string>>;

/** A counter that grows by `perMinute`; a gauge that stays. */
const grows = (perMinute: number): string => `0+${perMinute}x480`;
const stays = (value: number): string => `${value}x480`;

/** Histograms of an objective: so many a minute, and so many of them in time. */
const waits = (all: number, inTime: number): Series => ({
  'headwater_invocation_wait_seconds_bucket{pool="default", le="5"}': grows(inTime),
  'headwater_invocation_wait_seconds_bucket{pool="default", le="60"}': grows(all),
  'headwater_invocation_wait_seconds_bucket{pool="default", le="300"}': grows(all),
  'headwater_invocation_wait_seconds_bucket{pool="default", le="+Inf"}': grows(all),
  'headwater_invocation_wait_seconds_count{pool="default"}': grows(all),
});
const deliveries = (all: number, inTime: number, dead = 0): Series => ({
  'headwater_delivery_lag_seconds_bucket{listener="webhook", le="15"}': grows(inTime),
  'headwater_delivery_lag_seconds_count{listener="webhook"}': grows(all),
  'headwater_delivery_attempts_total{listener="webhook", outcome="delivered"}': grows(all),
  'headwater_delivery_attempts_total{listener="webhook", outcome="dead"}': grows(dead),
});

const healthy: Series = {
  headwater_controller_leader: stays(1),
  'kube_statefulset_status_replicas_ready{namespace="headwater", statefulset="nats"}': stays(3),
  'kube_statefulset_replicas{namespace="headwater", statefulset="nats"}': stays(3),
  'kubelet_volume_stats_available_bytes{namespace="headwater", persistentvolumeclaim="nats"}': stays(50),
  'kubelet_volume_stats_capacity_bytes{namespace="headwater", persistentvolumeclaim="nats"}': stays(100),
  'headwater_stream_bytes{stream="RUNS"}': stays(10),
  'headwater_stream_limit_bytes{stream="RUNS"}': stays(100),
  ...waits(100, 99.5),
  'headwater_pool_backlog{pool="default"}': stays(3),
  'headwater_runs_total{pool="default", outcome="returned"}': grows(100),
  'headwater_runs_total{pool="default", outcome="threw"}': grows(30),
  'headwater_runs_total{pool="default", outcome="run_timeout"}': grows(1),
  'headwater_runs_running{pool="default"}': stays(2),
  'headwater_runs_waiting{pool="default"}': stays(1),
  'headwater_runs_parked{pool="default", reason="owner_quota"}': stays(0),
  'headwater_delivery_backlog{state="due"}': stays(10),
  'headwater_delivery_backlog{state="scheduled"}': stays(50_000),
  'headwater_delivery_backlog{state="unrecorded"}': stays(10),
  'headwater_http_request_duration_seconds_count{status="200"}': grows(100),
  'headwater_http_request_duration_seconds_count{status="500"}': grows(1),
  'headwater_endpoint_request_duration_seconds_count{status="200"}': grows(1_000),
  'headwater_endpoint_request_duration_seconds_count{status="503"}': grows(1),
  ...deliveries(100, 99.5),
  'headwater_delivery_attempts_total{listener="webhook", outcome="retry"}': grows(20),
  'headwater_controller_reconcile_errors_total{controller="source"}': grows(1),
  'headwater_controller_queue_depth{controller="source"}': stays(3),
  headwater_mirror_lag_seconds: stays(0),
  'kube_deployment_status_replicas_unavailable{namespace="headwater", deployment="api"}': stays(0),
  'process_start_time_seconds{namespace="headwater", pod="api"}': stays(1_000),
  'nodejs_eventloop_lag_p99_seconds{namespace="headwater", pod="api"}': stays(0.02),
  'kube_cronjob_status_last_successful_time{namespace="headwater", cronjob="headwater-backup"}': stays(-100_000),
  'kube_cronjob_created{namespace="headwater", cronjob="headwater-backup"}': stays(-1_000_000),
};

const backup = 'namespace="headwater", cronjob="headwater-backup"';

/** Of each alert: what differs from the healthy installation, and the labels of the alert besides its severity. */
const failures: Readonly<Record<string, { readonly series: Series; readonly labels?: Readonly<Record<string, string>> }>> = {
  HeadwaterNoLeader: { series: { headwater_controller_leader: stays(0) } },
  HeadwaterServerDown: {
    series: { 'kube_statefulset_status_replicas_ready{namespace="headwater", statefulset="nats"}': stays(2) },
    labels: { namespace: "headwater", statefulset: "nats" },
  },
  HeadwaterVolumeFull: {
    series: { 'kubelet_volume_stats_available_bytes{namespace="headwater", persistentvolumeclaim="nats"}': stays(14) },
    labels: { namespace: "headwater", persistentvolumeclaim: "nats" },
  },
  HeadwaterStreamFull: { series: { 'headwater_stream_bytes{stream="RUNS"}': stays(81) }, labels: { stream: "RUNS" } },
  HeadwaterRunsWait: {
    series: { ...pick(waits(100, 80), 'le="5"'), 'headwater_invocation_wait_seconds_bucket{pool="default", le="60"}': grows(85) },
    labels: { pool: "default" },
  },
  HeadwaterPoolStuck: {
    series: {
      'headwater_runs_total{pool="default", outcome="returned"}': stays(7),
      'headwater_runs_total{pool="default", outcome="threw"}': stays(7),
      'headwater_runs_total{pool="default", outcome="run_timeout"}': stays(7),
      'headwater_runs_running{pool="default"}': stays(0),
    },
    labels: { pool: "default" },
  },
  HeadwaterDeliveryBehind: { series: { 'headwater_delivery_backlog{state="due"}': stays(1_001) }, labels: { state: "due" } },
  HeadwaterRecorderBehind: { series: { 'headwater_delivery_backlog{state="unrecorded"}': stays(1_001) } },
  HeadwaterApiFailing: { series: { 'headwater_http_request_duration_seconds_count{status="500"}': grows(6) } },
  HeadwaterEndpointsRefuse: { series: { 'headwater_endpoint_request_duration_seconds_count{status="503"}': grows(11) } },
  HeadwaterRunsEnded: { series: { 'headwater_runs_total{pool="default", outcome="run_timeout"}': grows(20) }, labels: { pool: "default" } },
  HeadwaterDeliveriesFail: { series: { 'headwater_delivery_attempts_total{listener="webhook", outcome="retry"}': grows(120) } },
  HeadwaterDeadLetters: { series: { 'headwater_delivery_attempts_total{listener="webhook", outcome="dead"}': "0x460 1x20" } },
  HeadwaterReconcileFails: {
    series: { 'headwater_controller_reconcile_errors_total{controller="source"}': grows(10) },
    labels: { controller: "source" },
  },
  HeadwaterReconcileWaits: {
    series: { 'headwater_controller_queue_depth{controller="source"}': stays(101) },
    labels: { controller: "source" },
  },
  HeadwaterListsOld: { series: { headwater_mirror_lag_seconds: stays(31) } },
  HeadwaterPodsMissing: {
    series: { 'kube_deployment_status_replicas_unavailable{namespace="headwater", deployment="api"}': stays(1) },
    labels: { namespace: "headwater", deployment: "api" },
  },
  HeadwaterRestarts: {
    series: { 'process_start_time_seconds{namespace="headwater", pod="api"}': "0x460 1 2 3 4 5x10" },
    labels: { namespace: "headwater", pod: "api" },
  },
  HeadwaterProcessBusy: {
    series: { 'nodejs_eventloop_lag_p99_seconds{namespace="headwater", pod="api"}': stays(1.1) },
    labels: { namespace: "headwater", pod: "api" },
  },
  HeadwaterBackupOld: {
    series: { [`kube_cronjob_status_last_successful_time{${backup}}`]: stays(-102_000) },
    labels: { namespace: "headwater", cronjob: "headwater-backup" },
  },
  HeadwaterRunsLateFast: { series: waits(100, 84) },
  HeadwaterRunsLateSlow: { series: waits(100, 93) },
  HeadwaterDeliveriesLateFast: { series: deliveries(100, 84) },
  HeadwaterDeliveriesLateSlow: { series: deliveries(100, 93) },
};

function pick(series: Series, part: string): Series {
  return Object.fromEntries(Object.entries(series).filter(([name]) => name.includes(part)));
}

/** The healthy series that the alert reads. */
function seriesOf(alert: string): Series {
  const expr = rules.find((rule) => rule.alert === alert)?.expr ?? "";
  return Object.fromEntries(Object.entries(healthy).filter(([name]) => expr.includes(name.replace(/\{.*$/, ""))));
}

interface Expectation {
  readonly series: Series;
  readonly at: string;
  /** Labels of each alert that fires, by its name; absent: the alert does not fire. */
  readonly firing: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Other alerts may fire. */
  readonly only?: readonly string[];
}

function testOf({ series, at, firing, only }: Expectation): object {
  const expected = rules
    .filter(({ alert }) => only === undefined || only.includes(alert))
    .map(({ alert, labels, annotations }) => {
      const own = firing[alert];
      const alerts = own === undefined ? [] : [{ exp_labels: { ...labels, ...own }, exp_annotations: annotations }];
      return { eval_time: at, alertname: alert, exp_alerts: alerts };
    });
  const input = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  return { interval: "1m", input_series: input, alert_rule_test: expected };
}

/** What promtool finds wrong. */
async function check(...expectations: readonly Expectation[]): Promise<string> {
  const directory = await temporaryDirectory("alert-rules");
  try {
    const [rulesPath, testPath] = [join(directory.path, "rules.yaml"), join(directory.path, "test.yaml")];
    await writeFile(rulesPath, text);
    await writeFile(testPath, stringify({ rule_files: [rulesPath], evaluation_interval: "1m", tests: expectations.map(testOf) }));
    return await promisify(execFile)(promtool ?? "", ["test", "rules", testPath]).then(
      () => "",
      (error: { readonly stdout?: string; readonly stderr?: string }) => `${error.stdout}${error.stderr}`,
    );
  } finally {
    await directory.remove();
  }
}

suite(`the alert rules${why}`, () => {
  it("are valid, and none fires in a healthy installation", async () => {
    expect(await check({ series: healthy, at: "7h50m", firing: {} })).toBe("");
  });

  it("have a failure each in this file", () => {
    expect(Object.keys(failures)).toEqual(rules.map(({ alert }) => alert));
  });

  it("fire for their failure", async () => {
    const expectations = Object.entries(failures).map(([alert, { series, labels = {} }]) => ({
      series: { ...seriesOf(alert), ...series },
      at: "7h50m",
      firing: { [alert]: labels },
      only: [alert],
    }));
    expect(await check(...expectations)).toBe("");
  });

  it("do not fire while all of a pool's work waits for quotas, and fire if other work waits too or no runner is left", async () => {
    const only = ["HeadwaterPoolStuck", "HeadwaterRunsWait", "HeadwaterRunsLateFast", "HeadwaterRunsLateSlow"];
    const firing = { HeadwaterPoolStuck: { pool: "own" } };
    const gauges = (parked: string, waiting: string): Series => ({
      'headwater_runs_running{pool="own"}': stays(0),
      'headwater_runs_parked{pool="own", reason="owner_quota"}': parked,
      'headwater_runs_parked{pool="own", reason="owner_runs"}': stays(1),
      'headwater_runs_waiting{pool="own"}': waiting,
    });
    const own: Series = {
      ...Object.fromEntries(Object.entries(waits(0, 0)).map(([name, values]) => [name.replace("default", "own"), values])),
      'headwater_pool_backlog{pool="own"}': stays(40),
      'headwater_runs_total{pool="own", outcome="returned"}': stays(7),
    };
    const at = (time: string, series: Series, fires: boolean): Expectation => ({
      series: { ...own, ...series },
      at: time,
      firing: fires ? firing : {},
      only,
    });
    expect(
      await check(
        at("7h50m", gauges(stays(2), stays(0)), false),
        at("7h50m", gauges(stays(2), stays(1)), true),
        at("7h50m", gauges(stays(0), stays(0)), true),
        at("7h50m", {}, true),
        // The runners are lost in the meantime.
        at("3h58m", gauges("2x240", "0x240"), false),
        at("4h20m", gauges("2x240", "0x240"), true),
      ),
    ).toBe("");
  });

  it("of backups fire when none has succeeded in 36 hours since the CronJob was created, and not without a CronJob", async () => {
    const only = ["HeadwaterBackupOld"];
    const created = (at: number): Series => ({ [`kube_cronjob_created{${backup}}`]: stays(at) });
    const firing = { HeadwaterBackupOld: { namespace: "headwater", cronjob: "headwater-backup" } };
    expect(
      await check(
        { series: created(-102_000), at: "7h50m", firing, only },
        { series: created(0), at: "7h50m", firing: {}, only },
        { series: {}, at: "7h50m", firing: {}, only },
      ),
    ).toBe("");
  });

  it("of fast burn rates fire within minutes of an outage, and end within minutes of its end", async () => {
    const outage = (perMinute: number) => `0+${perMinute}x240 ${perMinute * 240}+0x30 ${perMinute * 240}+${perMinute}x210`;
    const late = { ...waits(100, 0), 'headwater_invocation_wait_seconds_bucket{pool="default", le="5"}': outage(100) };
    const only = ["HeadwaterRunsLateFast"];
    const at = (time: string, firing: Expectation["firing"]): Expectation => ({ series: late, at: time, firing, only });
    expect(await check(at("4h", {}), at("4h13m", { HeadwaterRunsLateFast: {} }), at("4h40m", {}))).toBe("");
  });

  it("of slow burn rates fire without the fast ones when less of the budget is used", async () => {
    const only = ["HeadwaterRunsLateFast", "HeadwaterDeliveriesLateFast"];
    for (const series of [waits(100, 93), deliveries(100, 93)])
      expect(await check({ series: { ...healthy, ...series }, at: "7h50m", firing: {}, only })).toBe("");
  });

  it("count dead letters as late deliveries, even if nothing is delivered", async () => {
    const only = ["HeadwaterDeliveriesLateFast"];
    expect(await check({ series: deliveries(0, 0, 5), at: "7h50m", firing: { HeadwaterDeliveriesLateFast: {} }, only })).toBe("");
  });
});
