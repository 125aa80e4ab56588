import type { ErrorOccurrence } from "./error-occurrence.ts";
import { bounded, type OutgoingMail } from "./outgoing-mail.ts";

/** What one mail reports: an error, and how often it has happened since the last mail about it. */
export interface ErrorReport {
  /** The first of them. */
  readonly first: ErrorOccurrence;
  readonly count: number;
  /** Epoch ms of the last of them. */
  readonly lastAt: number;
  /** Epoch ms of the last mail about it; null: this is the first. */
  readonly mailedAt: number | null;
  /** True: `first` is one of many errors, because the emitter has too many distinct ones for a mail each. */
  readonly isOverflow: boolean;
}

const maxSubjectPart = 100;

/** @param publicUrl of the API and the console, without trailing slash */
export function errorMail(report: ErrorReport, publicUrl: string): Pick<OutgoingMail, "subject" | "text" | "html"> {
  const { first } = report;
  const what = kindOf(first.emitter);
  const name = first.name === null ? first.emitter : bounded(first.name, maxSubjectPart);
  const error = `${first.code}: ${first.message}`;
  const subject = `[Headwater] ${name}: ${bounded(error.replace(/\s+/gu, " "), maxSubjectPart)}`;
  const rows: readonly (readonly [string, string])[] = [
    [what.label, first.name === null ? first.emitter : `${first.name} (${first.emitter})`],
    ...(first.step === null ? [] : [["Step", `${first.step.name} (${first.step.id})`] as const]),
    ["When", timeOf(first.at)],
    [what.page, `${publicUrl}${pageOf(first, what.path)}`],
  ];
  const parts = { heading: headingOf(report, what.label), error, rows, counts: countsOf(report), note: noteOf(first, what.label) };
  return { subject, text: plainText(parts), html: markup(parts) };
}

/** The page in the console at which to look or act, with the organization that it shows. */
function pageOf({ emitter, owner, run }: ErrorOccurrence, path: string): string {
  const org = owner.startsWith("o_") ? { org: owner } : {};
  const query = (given: Readonly<Record<string, string>>): string => new URLSearchParams({ ...org, ...given }).toString();
  return run === null
    ? `/${path}?${query({ reconnect: emitter })}`
    : `/${path}/${encodeURIComponent(emitter)}?${query({ tab: "runs", run })}`;
}

interface Parts {
  readonly heading: string;
  readonly error: string;
  readonly rows: readonly (readonly [label: string, value: string])[];
  readonly counts: string;
  readonly note: string;
}

function kindOf(emitter: string) {
  if (emitter.startsWith("apn_")) return { label: "Account", path: "accounts", page: "Connect" } as const;
  return emitter.startsWith("p_")
    ? ({ label: "Workflow", path: "workflows", page: "Run" } as const)
    : ({ label: "Source", path: "sources", page: "Run" } as const);
}

function headingOf({ first, mailedAt, isOverflow }: ErrorReport, label: string): string {
  if (first.run === null) return "This account must be connected again. Sources and workflows that use it have its last credentials:";
  if (isOverflow) return `This ${label.toLowerCase()} fails with too many different errors to mail each. One of them:`;
  return mailedAt === null ? `A run of this ${label.toLowerCase()} failed:` : "An error has happened again:";
}

function countsOf({ count, lastAt, mailedAt }: ErrorReport): string {
  const last = count === 1 ? "" : `, the last time at ${timeOf(lastAt)}`;
  if (mailedAt === null) return count === 1 ? "" : `It has happened ${count} times${last}.`;
  return `Since the last mail at ${timeOf(mailedAt)}, it has happened ${times(count)}${last}.`;
}

const times = (count: number): string => (count === 1 ? "once" : `${count} times`);

function noteOf({ emitter, owner, run }: ErrorOccurrence, label: string): string {
  const account = owner.startsWith("o_") ? `/v1/orgs/${owner}` : "/v1/users/me";
  const ownSettings = `send {"settings": {"error_mails": false}} to PUT /v1/workflows/${emitter}. For no mails at all, `;
  const ownMails = emitter.startsWith("p_") ? ownSettings : "";
  const howOften =
    run === null
      ? "You get one mail when an account must be connected again. "
      : `You get at most one mail in 24 hours for each different error of a ${label.toLowerCase()}; repetitions are counted. `;
  return howOften + `To get no more mails like this, ${ownMails}send {"error_mails": false} to PUT ${account}.`;
}

/** ISO, to the second. */
const timeOf = (ms: number): string => `${new Date(ms).toISOString().replace("T", " ").slice(0, -5)} UTC`;

function plainText({ heading, error, rows, counts, note }: Parts): string {
  const lines = rows.map(([label, value]) => `${label}: ${value.replace(/\s+/gu, " ")}`);
  return [heading, error, lines.join("\n"), counts, `-- \n${note}`].filter((part) => part !== "").join("\n\n");
}

function markup({ heading, error, rows, counts, note }: Parts): string {
  const cell = (label: string, value: string): string =>
    label === "Run" || label === "Connect" ? `<a href="${escaped(value)}">${escaped(value)}</a>` : escaped(value);
  const table = rows.map(([label, value]) => `<tr><th align="left">${label}</th><td>${cell(label, value)}</td></tr>`).join("");
  const paragraph = (text: string): string => (text === "" ? "" : `<p>${escaped(text)}</p>`);
  return `<!doctype html><html><body>${paragraph(heading)}<pre>${escaped(error)}</pre><table>${table}</table>${paragraph(counts)}<hr>${paragraph(note)}</body></html>`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const escaped = (text: string): string => text.replace(/[&<>"']/gu, (character) => entities[character] ?? "");
