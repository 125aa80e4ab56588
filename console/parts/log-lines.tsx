import { formatTime } from "./format.ts";

interface LogRecord {
  readonly k: string;
  readonly ts: number;
  readonly msg?: string | undefined;
  readonly h?: string | undefined;
  readonly err?: { readonly name: string; readonly message: string; readonly stack?: string | undefined } | undefined;
}

/** What a log record says, in one text. */
export const logText = ({ msg, h, err }: LogRecord): string =>
  err === undefined ? (msg ?? (h === undefined ? "" : `hook ${h}`)) : (err.stack ?? `${err.name}: ${err.message}`);

/** Log records, oldest first. */
export function LogLines({ records }: { readonly records: readonly LogRecord[] }) {
  return (
    <ol className="flex flex-col gap-1 font-mono text-xs">
      {records.map((record, index) => (
        <li key={index} className="grid grid-cols-1 gap-x-3 sm:grid-cols-[9rem_7rem_1fr]">
          <span className="text-muted">{formatTime(record.ts)}</span>
          <span className={record.k.includes("error") ? "text-bad" : "text-muted"}>{record.k}</span>
          <bdi className="min-w-0 whitespace-pre-wrap">{logText(record)}</bdi>
        </li>
      ))}
    </ol>
  );
}
