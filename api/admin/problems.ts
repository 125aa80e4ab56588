import type { ReadinessReport } from "../http/ports.ts";
import type { InstallationReport } from "./ports.ts";
import type { StorageUse } from "./storage.ts";

/** Sections of docs/runbooks.md. The limits below are those of the alerts in charts/headwater/files/alerts.yaml. */
type Runbook =
  | "HeadwaterServerDown"
  | "HeadwaterStreamFull"
  | "HeadwaterVolumeFull"
  | "HeadwaterPodsMissing"
  | "HeadwaterNoLeader"
  | "HeadwaterPoolStuck"
  | "HeadwaterRunsWait"
  | "HeadwaterDeliveryBehind"
  | "HeadwaterRecorderBehind";

export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly runbook: Runbook;
}

/** What is known of the installation. */
export interface ProblemFacts extends Pick<ReadinessReport, "checks">, InstallationReport {
  readonly storage: readonly StorageUse[];
  /** Epoch ms. */
  readonly now: number;
}

const maxStreamShare = 0.8;
const maxBacklog = 1_000;
const maxWaitMs = 60_000;
/** Time enough to enlarge a disk. It is no limit of an alert. */
const minDaysUntilFull = 7;
const dayMs = 86_400_000;

/** All known problems, the most severe first. */
export const problemsOf = (facts: ProblemFacts): readonly Problem[] => rules.flatMap((rule) => rule(facts));

const runbookOfCheck: Readonly<Record<string, Runbook>> = {
  database: "HeadwaterServerDown",
  streams: "HeadwaterServerDown",
  store: "HeadwaterStreamFull",
  builder: "HeadwaterPodsMissing",
  operator: "HeadwaterNoLeader",
  runners: "HeadwaterPoolStuck",
};

function failedChecks({ checks }: ProblemFacts): readonly Problem[] {
  return Object.entries(checks)
    .filter(([, outcome]) => outcome !== "ok")
    .map(([name, outcome]) => ({
      code: "check_failed",
      message: `the check ${name} fails: ${outcome}`,
      runbook: runbookOfCheck[name] ?? "HeadwaterPodsMissing",
    }));
}

const fullStreams = ({ streams }: ProblemFacts): readonly Problem[] =>
  streams.flatMap(({ name, bytes, limitBytes }) => {
    if (limitBytes === null || bytes <= maxStreamShare * limitBytes) return [];
    const percent = Math.round((100 * bytes) / limitBytes);
    return [
      {
        code: "stream_full",
        message: `the stream ${name} has ${bytes} of ${limitBytes} bytes, ${percent} %`,
        runbook: "HeadwaterStreamFull",
      },
    ];
  });

/** Streams over their share are a problem already. */
const fillingDisks = ({ storage, now }: ProblemFacts): readonly Problem[] =>
  storage.flatMap(({ name, kind, bytes, limitBytes, forecast }) => {
    if (forecast.state !== "growing" || forecast.fullAtMs === null || limitBytes === null) return [];
    const days = (forecast.fullAtMs - now) / dayMs;
    if (days > minDaysUntilFull || (kind === "stream" && bytes > maxStreamShare * limitBytes)) return [];
    const what = kind === "stream" ? `the stream ${name}` : "the disk of the database";
    return [
      {
        code: "storage_fills",
        message: `${what} is full in ${days.toFixed(1)} days if it grows by ${forecast.bytesPerDay} bytes a day as before`,
        runbook: kind === "stream" ? "HeadwaterStreamFull" : "HeadwaterVolumeFull",
      },
    ];
  });

const missingDelivery = ({ deliveries }: ProblemFacts): readonly Problem[] =>
  deliveries.length > 0
    ? []
    : [
        {
          code: "no_delivery",
          message: "no replica of the delivery role is alive: events wait until one starts",
          runbook: "HeadwaterPodsMissing",
        },
      ];

function lateDelivery({ lag }: ProblemFacts): readonly Problem[] {
  if (lag === undefined) return [];
  const waiting: readonly (readonly [count: number, what: string, runbook: Runbook])[] = [
    [lag.unrouted, "commits wait to be routed", "HeadwaterDeliveryBehind"],
    [lag.due, "deliveries are due and wait", "HeadwaterDeliveryBehind"],
    [lag.unrecorded, "commits are not in Postgres yet: lists are old", "HeadwaterRecorderBehind"],
  ];
  return waiting
    .filter(([count]) => count > maxBacklog)
    .map(([count, what, runbook]) => ({
      code: runbook === "HeadwaterRecorderBehind" ? "recorder_behind" : "delivery_behind",
      message: `${count} ${what}`,
      runbook,
    }));
}

function lateRuns({ lag, now }: ProblemFacts): readonly Problem[] {
  const since = lag?.oldestInvocationAt ?? now;
  if (now - since <= maxWaitMs) return [];
  const seconds = Math.round((now - since) / 1_000);
  return [
    { code: "runs_wait", message: `the oldest invocation was accepted ${seconds} s ago and has not ended`, runbook: "HeadwaterRunsWait" },
  ];
}

const fullBacklogs = ({ runners }: ProblemFacts): readonly Problem[] =>
  runners
    .filter(({ fullSources }) => fullSources > 0)
    .map(({ id, pool, fullSources }) => ({
      code: "backlog_full",
      message: `${fullSources} sources of runner ${id} in pool ${pool} have a full backlog and accept no invocations`,
      runbook: "HeadwaterRunsWait",
    }));

const rules: readonly ((facts: ProblemFacts) => readonly Problem[])[] = [
  failedChecks,
  fullStreams,
  fillingDisks,
  missingDelivery,
  lateDelivery,
  lateRuns,
  fullBacklogs,
];
