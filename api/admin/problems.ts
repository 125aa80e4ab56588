import type { ReadinessReport } from "../http/ports.ts";
import type { InstallationReport } from "./ports.ts";
import type { StorageUse } from "./storage.ts";

/** Sections of docs/runbooks.md. The limits below are those of alerts in charts/headwater/files/alerts.yaml, which wait until they last. */
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
  /** Undefined: it cannot be read. */
  readonly storage: readonly StorageUse[] | undefined;
  /** Epoch ms. */
  readonly now: number;
}

const maxStreamShare = 0.8;
const maxDatabaseShare = 0.85;
const maxBacklog = 1_000;
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
const fillingDisks = ({ storage = [], now }: ProblemFacts): readonly Problem[] =>
  storage.flatMap(({ name, kind, bytes, limitBytes, forecast }) => {
    if (kind !== "stream" && limitBytes !== null && bytes > maxDatabaseShare * limitBytes)
      return [
        {
          code: "disk_full",
          message: `the disk of the database has room for ${limitBytes - bytes} more bytes, and the database has ${bytes}`,
          runbook: "HeadwaterVolumeFull",
        },
      ];
    if (forecast.state !== "growing" || forecast.fullAtMs === null || limitBytes === null) return [];
    const days = Math.max(0, (forecast.fullAtMs - now) / dayMs);
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

/** What cannot be read must not look healthy. Before delivery has started, the lag is not known. */
function unknownFacts({ storage, lag, deliveries }: ProblemFacts): readonly Problem[] {
  const unknown = [
    ...(storage === undefined ? ["how full the disks are"] : []),
    ...(lag === undefined && deliveries.length > 0 ? ["how far delivery is behind"] : []),
  ];
  return unknown.map((what) => ({
    code: "unknown",
    message: `it is not known ${what}: the log of the API says why; after an update, the setup may not have run`,
    runbook: "HeadwaterServerDown",
  }));
}

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
  unknownFacts,
  lateDelivery,
  fullBacklogs,
];
