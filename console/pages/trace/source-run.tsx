import { useState } from "react";
import type { Run, Span } from "../../../client/generated/operations.ts";
import { useRead } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { formatBytes, formatDuration } from "../../parts/format.ts";
import { LogLines } from "../../parts/log-lines.tsx";
import { ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Facts } from "../../parts/page.tsx";
import { useCanWrite } from "../../parts/session-context.tsx";
import { SimpleTable } from "../../parts/simple-table.tsx";
import { Tree } from "../../parts/tree.tsx";
import { causeOf, Emitted } from "./emitted.tsx";
import { EventValue, useEvent } from "./event-view.tsx";
import { Hint, InspectorTabs, SpanFacts } from "./parts.tsx";
import { RunAgainDialog } from "./run-again.tsx";
import { text } from "./strings.ts";

interface SourceRunProps {
  readonly span: Span;
  /** Of the run: the span itself, or the one above. */
  readonly run: Span;
  readonly spans: readonly Span[];
}

/** A run of a source: input, output, logs, events, state and cost. */
export function SourceRun({ span, run, spans }: SourceRunProps) {
  const [source, id] = [run.source_id ?? "", run.run_id ?? ""];
  const read = useRead("getRun", { path: { id: source, run_id: id } });
  const found = read.data?.data;
  return (
    <>
      <SpanFacts span={span} />
      <Loaded isLoading={read.isPending} error={found === undefined ? read.error : null} retry={() => void read.refetch()}>
        {found !== undefined && found.status !== "running" && <Details run={found} cause={causeOf(run, spans)} />}
      </Loaded>
    </>
  );
}

function Details({ run, cause }: { readonly run: Run; readonly cause: Span | undefined }) {
  const logs = run.logs ?? [];
  return (
    <>
      {run.error !== null && <ErrorNotice title={run.error.name} error={new Error(run.error.stack ?? run.error.message)} />}
      {cause === undefined ? <RunAgain run={run} event={run.event} /> : <RunAgainWithEvent run={run} cause={cause} />}
      <InspectorTabs
        views={[
          ["input", text.tabs.input, <Input key="input" run={run} cause={cause} />],
          [
            "output",
            text.tabs.output,
            run.result === null || run.result === undefined ? (
              <Hint key="output">{text.noOutput}</Hint>
            ) : (
              <Tree key="output" value={run.result} />
            ),
          ],
          ["logs", text.tabs.logs, logs.length === 0 ? <Hint key="logs">{text.noLogs}</Hint> : <LogLines key="logs" records={logs} />],
          ["events", text.tabs.events, <Emitted key="events" emitter={run.source_id} ids={run.event_ids} duplicates={run.duplicates} />],
          ["state", text.tabs.state, <State key="state" run={run} />],
          ["cost", text.tabs.cost, <Cost key="cost" run={run} />],
        ]}
      />
    </>
  );
}

function Input({ run, cause }: { readonly run: Run; readonly cause: Span | undefined }) {
  const emitter = cause?.source_id ?? cause?.workflow_id;
  if (emitter !== undefined && cause?.event_id !== undefined) return <EventValue emitter={emitter} id={cause.event_id} />;
  return run.event === undefined ? <Hint>{text.noInput}</Hint> : <Tree value={run.event} />;
}

function State({ run: { db_changes: changes = [] } }: { readonly run: Run }) {
  if (changes.length === 0) return <Hint>{text.noState}</Hint>;
  return (
    <SimpleTable
      label={text.tabs.state}
      head={[text.key, text.change, text.size]}
      rows={changes.map(({ prop, key, change, bytes }) => [
        `${prop}.${key}`,
        text.changes[change],
        bytes === undefined ? text.none : formatBytes(bytes),
      ])}
    />
  );
}

const Cost = ({ run }: { readonly run: Run }) => (
  <Facts
    facts={[
      [text.cpu, formatDuration(run.cpu_ms)],
      [text.duration, formatDuration(run.duration_ms)],
      ...(run.queued_ms === undefined ? [] : [[text.queued, formatDuration(run.queued_ms)] as const]),
      ...(run.start_ms === undefined ? [] : [[text.started, formatDuration(run.start_ms)] as const]),
    ]}
  />
);

function RunAgainWithEvent({ run, cause }: { readonly run: Run; readonly cause: Span }) {
  const event = useEvent(cause.source_id ?? cause.workflow_id ?? "", cause.event_id ?? "");
  return <RunAgain run={run} event={event.data?.event} />;
}

function RunAgain({ run, event }: { readonly run: Run; readonly event: unknown }) {
  const [isOpen, setIsOpen] = useState(false);
  if (!useCanWrite()) return null;
  return (
    <div>
      <Button onClick={() => setIsOpen(true)}>{text.edit}</Button>
      {isOpen && <RunAgainDialog of={{ source: run.source_id }} event={event} onClose={() => setIsOpen(false)} />}
    </div>
  );
}
