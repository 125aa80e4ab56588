import type { Run } from "../../../client/generated/operations.ts";
import { useRead } from "../../api/queries.ts";
import { Id } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { formatDuration } from "../../parts/format.ts";
import { LogLines } from "../../parts/log-lines.tsx";
import { ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Facts } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { Tree } from "../../parts/tree.tsx";
import { EventDetails } from "./event-details.tsx";
import { text } from "./strings.ts";

/** Events of a run that are shown whole. */
const maxEvents = 20;

/** A run with its way: trigger, run, logs, emitted events, their deliveries and attempts. */
export function RunDetailsDialog({ source, id, onClose }: { readonly source: string; readonly id: string; readonly onClose: () => void }) {
  const read = useRead("getRun", { path: { id: source, run_id: id } });
  const run = read.data?.data;
  return (
    <Dialog title={text.run} isOpen onClose={onClose} isWide>
      <Loaded isLoading={read.isPending} error={read.error} retry={() => void read.refetch()}>
        {run !== undefined &&
          (run.status === "running" ? <p className="text-sm">{text.stillRunning}</p> : <RunDetails source={source} run={run} />)}
      </Loaded>
    </Dialog>
  );
}

function RunDetails({ source, run }: { readonly source: string; readonly run: Run }) {
  const logs = run.logs ?? [];
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Facts
        facts={[
          ["Id", <Id key="id" id={run.id} />],
          [text.status, <State key="state" state={run.status} />],
          [text.trigger, run.hook === undefined ? run.trigger : `${run.trigger}: ${run.hook}`],
          [text.started, <Time key="time" ms={run.started_at_ms} />],
          [text.duration, formatDuration(run.duration_ms)],
          [text.cpu, formatDuration(run.cpu_ms)],
        ]}
      />
      {run.error !== null && <ErrorNotice title={run.error.name} error={new Error(run.error.stack ?? run.error.message)} />}
      {run.result !== null && run.result !== undefined && (
        <Block title={text.result}>
          <Tree value={run.result} />
        </Block>
      )}
      <Block title={text.logs}>
        {logs.length === 0 ? <p className="text-sm text-muted">{text.noLogs}</p> : <LogLines records={logs} />}
      </Block>
      <Block title={text.emitted}>
        {run.event_ids.length === 0 && <p className="text-sm text-muted">{text.noEmits}</p>}
        {run.event_ids.slice(0, maxEvents).map((event) => (
          <details key={event} open={run.event_ids.length === 1} className="rounded-md border border-line p-2">
            <summary className="font-mono text-xs">{event}</summary>
            <EventDetails source={source} id={event} />
          </details>
        ))}
      </Block>
    </div>
  );
}

function Block({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-2">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  );
}
