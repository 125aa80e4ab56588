/** The dashboard's panels, by role. */
export interface Panel {
  readonly title: string;
  /** Describes the panel and its normal values. */
  readonly about: string;
  /** Grafana's id of the unit. */
  readonly unit: string;
  /** Expressions, each with the legend of its series. */
  readonly queries: readonly (readonly [expression: string, legend: string])[];
}

const of = (metric: string, ...matchers: readonly string[]): string => `${metric}{${['job=~"$job"', ...matchers].join(", ")}}`;
const by = (labels: string): string => (labels === "" ? "" : ` by (${labels})`);
const rate = (metric: string, labels = "", ...matchers: readonly string[]): string =>
  `sum${by(labels)} (rate(${of(metric, ...matchers)}[$__rate_interval]))`;
const sum = (metric: string, labels = "", ...matchers: readonly string[]): string => `sum${by(labels)} (${of(metric, ...matchers)})`;
const most = (metric: string, labels = "", ...matchers: readonly string[]): string => `max${by(labels)} (${of(metric, ...matchers)})`;
const quantile = (share: number, histogram: string, labels = "", ...matchers: readonly string[]): string =>
  `histogram_quantile(${share}, ${rate(`${histogram}_bucket`, labels === "" ? "le" : `le, ${labels}`, ...matchers)})`;
/** The median and the 99th percentile. */
const halves = (histogram: string, ...matchers: readonly string[]): Panel["queries"] => [
  [quantile(0.5, histogram, "", ...matchers), "half within"],
  [quantile(0.99, histogram, "", ...matchers), "99 % within"],
];

const requests = "headwater_http_request_duration_seconds";
const endpoints = "headwater_endpoint_request_duration_seconds";
const attempts = "headwater_delivery_attempts_total";

export const rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[] = [
  {
    title: "API",
    panels: [
      { title: "Requests", about: "By status.", unit: "reqps", queries: [[rate(`${requests}_count`, "status"), "{{status}}"]] },
      {
        title: "Failed requests",
        about: "Share of 5xx. Few are normal; the API's log says why (http.error).",
        unit: "percentunit",
        queries: [[`${rate(`${requests}_count`, "", 'status=~"5.."')} / ${rate(`${requests}_count`)}`, "5xx"]],
      },
      {
        title: "Time of requests",
        about: "Requests that deploy wait for hooks; requests that run a source wait for the run.",
        unit: "s",
        queries: [...halves(requests), [quantile(0.99, requests, "", 'method="GET"'), "99 % of GET within"]],
      },
    ],
  },
  {
    title: "Endpoints of sources",
    panels: [
      { title: "Requests", about: "By status.", unit: "reqps", queries: [[rate(`${endpoints}_count`, "status"), "{{status}}"]] },
      {
        title: "Failed requests",
        about: "503: overloaded, or the request could not be stored. 500 and 504: a component with customResponse did not respond.",
        unit: "percentunit",
        queries: [[`${rate(`${endpoints}_count`, "status", 'status=~"5.."')} / scalar(${rate(`${endpoints}_count`)})`, "{{status}}"]],
      },
      {
        title: "Time of requests",
        about: "A few ms, until the request is stored; with customResponse, until the component has responded.",
        unit: "s",
        queries: halves(endpoints),
      },
    ],
  },
  {
    title: "Runs",
    panels: [
      {
        title: "Runs by outcome",
        about: "returned and threw are results of components; all others were ended by a limit or crashed.",
        unit: "ops",
        queries: [[rate("headwater_runs_total", "outcome"), "{{outcome}}"]],
      },
      {
        title: "Wait for a run",
        about:
          "From storing an invocation to starting its run, unless a quota has held it back. It grows when there is more work than capacity.",
        unit: "s",
        queries: [
          [quantile(0.5, "headwater_invocation_wait_seconds", "pool"), "{{pool}}: half within"],
          [quantile(0.99, "headwater_invocation_wait_seconds", "pool"), "{{pool}}: 99 % within"],
        ],
      },
      {
        title: "Time of a run",
        about: "In the sandbox, including a cold start.",
        unit: "s",
        queries: [
          [quantile(0.5, "headwater_run_duration_seconds", "pool"), "{{pool}}: half within"],
          [quantile(0.99, "headwater_run_duration_seconds", "pool"), "{{pool}}: 99 % within"],
        ],
      },
      {
        title: "Backlog of pools",
        about:
          "Invocations in the streams, counted by the operator in a cluster, and those that run, and wait for anything but a quota, in runners.",
        unit: "short",
        queries: [
          [most("headwater_pool_backlog", "pool"), "{{pool}}: all"],
          [sum("headwater_runs_running", "pool"), "{{pool}}: running"],
          [sum("headwater_runs_waiting", "pool"), "{{pool}}: waiting in runners"],
        ],
      },
      {
        title: "Blocked owners",
        about:
          "Sources that wait because of their owner's share of a runner, quota or unprocessed commits; sources and owners whose backlog is at its bound.",
        unit: "short",
        queries: [
          [sum("headwater_runs_parked", "pool, reason"), "{{pool}}: {{reason}}"],
          [sum("headwater_backlog_full", "pool, kind"), "{{pool}}: {{kind}} at its bound"],
        ],
      },
      {
        title: "Warm isolates",
        about: "Isolates kept for the next run, and evictions per second: evicted sources start cold.",
        unit: "short",
        queries: [
          [sum("headwater_sandbox_isolates", "pool"), "{{pool}}: warm isolates"],
          [sum("headwater_sandbox_sources", "pool"), "{{pool}}: warm sources"],
          [rate("headwater_sandbox_evictions_total", "pool"), "{{pool}}: evicted a second"],
        ],
      },
      {
        title: "Sandbox processes",
        about: "Processes with isolates. Fewer than usual: they are being replaced.",
        unit: "short",
        queries: [
          [sum("headwater_sandbox_children", "pool"), "{{pool}}"],
          [rate("headwater_sandbox_start_failures_total", "pool"), "{{pool}}: failed starts a second"],
        ],
      },
      {
        title: "Memory of sandboxes",
        about: "Of the processes with isolates.",
        unit: "bytes",
        queries: [[sum("headwater_sandbox_resident_bytes", "pool"), "{{pool}}"]],
      },
    ],
  },
  {
    title: "Deliveries",
    panels: [
      {
        title: "Attempts by outcome",
        about: "retry: will be retried; dead: became a dead letter; left_out: sources that listen to each other in a cycle.",
        unit: "ops",
        queries: [[rate(attempts, "listener, outcome"), "{{listener}}: {{outcome}}"]],
      },
      {
        title: "Time of an attempt",
        about: "As long as the endpoints take, 15 s at most.",
        unit: "s",
        queries: halves("headwater_delivery_attempt_seconds", 'listener="webhook"'),
      },
      {
        title: "From commit to delivery",
        about: "Including retries.",
        unit: "s",
        queries: [
          [quantile(0.5, "headwater_delivery_lag_seconds", "listener"), "{{listener}}: half within"],
          [quantile(0.99, "headwater_delivery_lag_seconds", "listener"), "{{listener}}: 99 % within"],
        ],
      },
      {
        title: "Backlog",
        about: "unrouted and due are near 0; scheduled waits for a retry or a delivery_ts.",
        unit: "short",
        queries: [[most("headwater_delivery_backlog", "state", 'state!="unrecorded"'), "{{state}}"]],
      },
      {
        title: "Recorder",
        about: "Commits that are not in Postgres yet: their events, runs and logs are not visible.",
        unit: "short",
        queries: [[most("headwater_delivery_backlog", "", 'state="unrecorded"'), "unrecorded"]],
      },
      {
        title: "Dead letters",
        about: "Deliveries that were given up, per hour.",
        unit: "short",
        queries: [[`sum (increase(${of(attempts, 'outcome="dead"')}[1h]))`, "in an hour"]],
      },
      {
        title: "Mails",
        about: "To owners, by kind and outcome of an attempt. Suppressed errors are reported by one mail for all of them.",
        unit: "cps",
        queries: [
          [rate("headwater_mails_total", "kind, outcome"), "{{kind}} {{outcome}}"],
          [rate("headwater_mail_suppressed_errors_total"), "suppressed errors"],
        ],
      },
    ],
  },
  {
    title: "Operator",
    panels: [
      {
        title: "Leader",
        about: "1: one operator reconciles. 0: none does, and changes wait.",
        unit: "short",
        queries: [
          [sum("headwater_controller_leader"), "leaders"],
          [sum("headwater_controller_leader", "instance"), "{{instance}}"],
        ],
      },
      {
        title: "Failed reconciliations",
        about: "By controller; they are retried. The operator's log has the reason.",
        unit: "ops",
        queries: [[rate("headwater_controller_reconcile_errors_total", "controller"), "{{controller}}"]],
      },
      {
        title: "Queue",
        about: "Resources that wait to be reconciled. 0, except after a start or a large apply.",
        unit: "short",
        queries: [[sum("headwater_controller_queue_depth", "controller"), "{{controller}}"]],
      },
      {
        title: "Reconciliations by result",
        about: "Of all controllers.",
        unit: "ops",
        queries: [[rate("headwater_controller_reconcile_total", "result"), "{{result}}"]],
      },
      {
        title: "Time of a reconciliation",
        about: "99th percentile. For components as long as a build.",
        unit: "s",
        queries: [[quantile(0.99, "headwater_controller_reconcile_seconds", "controller"), "{{controller}}"]],
      },
      {
        title: "Lists of the API",
        about: "Age of the oldest change that lists do not show yet.",
        unit: "s",
        queries: [[most("headwater_mirror_lag_seconds"), "lag"]],
      },
    ],
  },
  {
    title: "Processes",
    panels: [
      { title: "CPU", about: "Cores.", unit: "short", queries: [[rate("process_cpu_seconds_total", "instance"), "{{instance}}"]] },
      { title: "Memory", about: "Resident.", unit: "bytes", queries: [[sum("process_resident_memory_bytes", "instance"), "{{instance}}"]] },
      {
        title: "Event loop",
        about: "99th percentile of the lag. Near a second, the process has more work than a core can do.",
        unit: "s",
        queries: [[most("nodejs_eventloop_lag_p99_seconds", "instance"), "{{instance}}"]],
      },
      {
        title: "Starts",
        about: "Restarts of a process within an hour.",
        unit: "short",
        queries: [[`sum by (instance) (changes(${of("process_start_time_seconds")}[1h]))`, "{{instance}}"]],
      },
      {
        title: "Streams",
        about: "Size as a share of the limit. At 1, RUNS refuses commits until it is trimmed.",
        unit: "percentunit",
        queries: [[`${most("headwater_stream_bytes", "stream")} / ${most("headwater_stream_limit_bytes", "stream")}`, "{{stream}}"]],
      },
    ],
  },
];
