import type { DryRun, SourceTest } from "../../../client/generated/operations.ts";
import { clip } from "../format.ts";
import { LogLines } from "../log-lines.tsx";
import { ErrorNotice } from "../notices.tsx";
import { State } from "../state.tsx";
import { Tree } from "../tree.tsx";
import { text } from "./strings.ts";

/** What a dry run would have stored. */
export function DryRunResult({ label, run }: { readonly label: string; readonly run: DryRun | SourceTest }) {
  return (
    <section aria-label={label} className="flex min-w-0 flex-col gap-3 border-t border-line pt-4">
      <State state={run.status} />
      {run.error !== null && <ErrorNotice title={run.error.name} error={new Error(run.error.stack ?? run.error.message)} />}
      <h3 className="font-semibold">{text.wouldEmit}</h3>
      {run.emits.length === 0 && <p className="text-sm text-muted">{text.none}</p>}
      {run.emits.map((emit, index) => (
        <div key={index} className="rounded-md border border-line p-2">
          <p className="text-sm">{text.verdicts[emit.verdict]}</p>
          <Tree value={emit.event} />
        </div>
      ))}
      <h3 className="font-semibold">{text.wouldStore}</h3>
      {run.db_writes.length === 0 && <p className="text-sm text-muted">{text.none}</p>}
      {run.db_writes.map(({ prop, key, value, deleted }) => (
        <p key={`${prop} ${key}`} className="font-mono text-xs">
          {deleted === true ? (
            <del>{`${prop}.${key}`}</del>
          ) : (
            <ins className="no-underline">{`${prop}.${key} = ${clip(JSON.stringify(value) ?? "undefined", 1_000)}`}</ins>
          )}
        </p>
      ))}
      {run.response !== null && (
        <>
          <h3 className="font-semibold">{text.response}</h3>
          <Tree value={run.response} />
        </>
      )}
      {run.logs.length > 0 && <LogLines records={run.logs} />}
    </section>
  );
}
