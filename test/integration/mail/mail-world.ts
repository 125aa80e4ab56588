import type pg from "pg";
import { createHash, randomBytes } from "node:crypto";
import { ConfirmationQueue } from "../../../delivery/mail/confirmation-mails.ts";
import { ErrorMailQueue } from "../../../delivery/mail/error-mails.ts";
import { startMails } from "../../../delivery/mail/mail-loop.ts";
import { MailBudget, type MailLimits } from "../../../delivery/mail/mail-budget.ts";
import type { MailMetrics } from "../../../delivery/mail/ports.ts";
import type { Clock } from "../../../domain/clock.ts";
import type { Commit, CommittedRun } from "../../../domain/run/commit.ts";
import type { RunError } from "../../../domain/run-products.ts";
import type { CommittedStep, WorkflowProgress } from "../../../domain/workflow/run-commit.ts";
import { createSmtpMailer } from "../../../platform/mail/smtp.ts";
import type { Database } from "../../../platform/postgres/connection.ts";
import { createConfirmations } from "../../../platform/postgres/mail/confirmations.ts";
import { createErrorMails } from "../../../platform/postgres/mail/error-mails.ts";
import { createMailCounts } from "../../../platform/postgres/mail/mail-counts.ts";
import type { MailServer } from "../../support/mail-server.ts";
import { began, committedStep, workflowCommit } from "../../domain/run/workflow-commits.ts";

export const dayMs = 86_400_000;
export const publicUrl = "https://hw.example";

/** A commit that fails a run of a workflow in its step. */
export function failedRun(
  of: { readonly workflow: string; readonly owner: string; readonly run: string },
  error: Partial<RunError> = {},
  step: Partial<CommittedStep> = {},
  progress: Partial<WorkflowProgress> = {},
): Commit {
  const failure: RunError = { name: "TypeError", message: "no total", ...error };
  const commit = workflowCommit({ source: of.workflow, owner: of.owner, error: failure });
  return {
    ...commit,
    run: { ...commit.run, id: of.run },
    workflow: {
      ...commit.workflow,
      status: "failed",
      name: "Orders",
      step: committedStep({ outcome: "failed", error: failure, ...step }),
      ...progress,
    },
  } as unknown as Commit; // Readers of RUNS do not know the state of a workflow run.
}

/** A commit of a source whose run has failed. */
export function failedSourceRun(of: { readonly source: string; readonly owner: string; readonly run: string }): Commit {
  const run: CommittedRun = { id: of.run, trigger: "timer", generation: 1, startedAt: began, durationMs: 20, cpuMs: 2, result: null };
  return {
    source: of.source,
    owner: of.owner,
    deployment: "d_1",
    run,
    events: [],
    logs: [],
    error: { name: "Error", message: "feed is empty" },
    state: { db: {}, dedupe: { strategy: "none" }, lastEventId: null, hooks: {} },
  };
}

export interface SenderOptions {
  readonly clock?: Clock;
  readonly metrics?: Pick<MailMetrics, "errorMail" | "suppressed">;
  readonly onLog?: (line: string) => void;
  readonly login?: { readonly user: string; readonly password: string };
  readonly port?: number;
  readonly limits?: MailLimits;
}

const manyMails: MailLimits = { perOwner: 10_000, perAddress: 10_000, inAll: 10_000 };

export const mailerOf = ({ port }: Pick<MailServer, "port">, login?: SenderOptions["login"]) =>
  createSmtpMailer({
    server: { host: "127.0.0.1", port, secure: false, login },
    from: { name: "Headwater", address: "headwater@example.com" },
    timeoutMs: 60_000,
  });

/** The sender of one replica. */
export function startSender(database: Database, server: Pick<MailServer, "port">, options: SenderOptions = {}) {
  const { clock, metrics, onLog = () => undefined, login, limits = manyMails } = options;
  const mailer = mailerOf(server, login);
  const log = (fields: object, message = ""): void => onLog(`${message} ${JSON.stringify(fields, errorText)}`);
  const ports = {
    mailer,
    budget: new MailBudget(createMailCounts(database, clock), limits),
    log: { info: log, warn: log, error: log },
    random: () => 0,
  };
  const errors = new ErrorMailQueue(
    { ...ports, errorMails: createErrorMails(database, clock), ...(metrics === undefined ? {} : { metrics }) },
    publicUrl,
  );
  const confirmations = new ConfirmationQueue({ ...ports, confirmations: createConfirmations(database, clock), newToken }, publicUrl);
  return startMails([confirmations, errors], ports, 20);
}

function newToken() {
  const token = randomBytes(32).toString("base64url");
  return { token, hash: createHash("sha256").update(token).digest("hex") };
}

const errorText = (_key: string, value: unknown): unknown => (value instanceof Error ? `${value.message} ${value.stack ?? ""}` : value);

export interface MailRow {
  readonly emitter: string;
  readonly fingerprint: string;
  readonly state: string;
  readonly occurrences: string;
  readonly reason: string | null;
}

export async function mailRows(client: pg.Client): Promise<readonly MailRow[]> {
  const { rows } = await client.query<MailRow>("select emitter, fingerprint, state, occurrences, reason from error_mails order by emitter");
  return rows;
}
