import { useParams } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { Span, Trace } from "../../../client/generated/operations.ts";
import { useRead } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Id } from "../../parts/copy-button.tsx";
import { ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { useSearchParams } from "../../parts/search.ts";
import { useOpenTrace } from "../../parts/trace-link.tsx";
import { Inspector } from "./inspector.tsx";
import { useNeighbours } from "./neighbours.ts";
import { Hint } from "./parts.tsx";
import { text } from "./strings.ts";
import { Waterfall } from "./waterfall.tsx";

const refreshMs = 5_000;

/** One trace: all that led to a run, an event or a delivery, and all that this caused. */
export function TracePage() {
  const { id = "" } = useParams({ strict: false }) as { readonly id?: string }; // The route has it.
  const [{ below }] = useSearchParams();
  const query = below === "true" ? { below: true } : {};
  const read = useRead("getTrace", { path: { id }, query }, { everyMs: refreshMs });
  const trace = read.data?.data;
  // The data of the trace before stays until this one is there, and this one stays if a refresh fails.
  const focus = trace?.spans.find(({ id: span }) => span === trace.focus_id);
  const title = focus === undefined ? text.title : text.titleOf(focus.name ?? text.hidden);
  return (
    <Page title={title} note={<Id id={id} />}>
      {read.error !== null && trace === undefined && id.startsWith("r_") && <Hint>{text.waiting}</Hint>}
      {read.error !== null && (
        <ErrorNotice title={trace === undefined ? text.notFound : text.notRefreshed} error={read.error} retry={() => void read.refetch()} />
      )}
      <Loaded isLoading={read.isPending && read.error === null} error={null}>
        {trace !== undefined && <TraceView trace={trace} />}
      </Loaded>
    </Page>
  );
}

function TraceView({ trace }: { readonly trace: Trace }) {
  const [{ span: chosen }, setSearch] = useSearchParams();
  const { spans, focus_id: focus } = trace;
  const selected = spans.find(({ id }) => id === chosen) ?? spans.find(({ id }) => id === focus) ?? spans[0];
  if (selected === undefined) return null;
  return (
    <>
      <Neighbours run={runOf(selected, spans)} />
      {trace.cut && <Hint>{text.cut}</Hint>}
      <div className="grid min-w-0 gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="flex min-w-0 flex-col gap-2">
          <Waterfall spans={spans} selected={selected.id} onSelect={(id) => setSearch({ span: id }, { replaces: true })} />
          <Hint>{text.keys}</Hint>
          {trace.otel_trace_id !== null && (
            <p className="flex flex-wrap items-center gap-2 text-sm text-muted">
              {text.otel} <Id id={trace.otel_trace_id} />
            </p>
          )}
        </div>
        <div className="flex min-w-0 flex-col gap-2">
          <Inspector span={selected} spans={spans} />
          {selected.has_more && selected.trace_id !== undefined && <More id={selected.trace_id} />}
        </div>
      </div>
    </>
  );
}

/** The run that a span belongs to, or that has emitted it. */
function runOf(span: Span, spans: readonly Span[]): Span | undefined {
  if (span.kind === "run") return span;
  const above = spans.find(({ id }) => id === span.parent_id);
  return above === undefined ? spans.find(({ kind }) => kind === "run") : runOf(above, spans);
}

function More({ id }: { readonly id: string }) {
  const open = useOpenTrace();
  return (
    <div>
      <Button onClick={() => open(id, { below: "true" })}>{text.below}</Button>
    </div>
  );
}

/** Buttons and the keys J and K for the runs beside this one. */
function Neighbours({ run }: { readonly run: Span | undefined }) {
  const { older, newer } = useNeighbours(run);
  const open = useOpenTrace();
  const go = useRef<(key: string) => void>(() => undefined);
  useEffect(() => {
    go.current = (key) => {
      const to = key === "j" ? older : key === "k" ? newer : undefined;
      if (to !== undefined) open(to);
    };
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest("input,textarea,select,[contenteditable]") !== null;
      const isTaken = event.defaultPrevented || document.querySelector("[role=dialog],[role=alertdialog]") !== null;
      if (!isTyping && !isTaken && !event.ctrlKey && !event.metaKey && !event.altKey) go.current(event.key.toLowerCase());
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div className="flex flex-wrap gap-2">
      <Button disabled={older === undefined} onClick={() => open(older ?? "")}>
        {text.older} <kbd aria-hidden>J</kbd>
      </Button>
      <Button disabled={newer === undefined} onClick={() => open(newer ?? "")}>
        {text.newer} <kbd aria-hidden>K</kbd>
      </Button>
    </div>
  );
}
