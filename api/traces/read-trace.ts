import { isId } from "../../domain/ids.ts";
import { isRunId } from "../../domain/invocation/run-id.ts";
import { goneEvent } from "../../domain/trace/event-spans.ts";
import type { TracedEvent, TracedRun } from "../../domain/trace/records.ts";
import { runSpanId, triggerSpan } from "../../domain/trace/run-spans.ts";
import type { Trace } from "../../domain/trace/span.ts";
import { findFocus, type Focus } from "./find-focus.ts";
import type { Ancestor, TraceRecords } from "./ports.ts";
import { spanIdOf, TraceTree, type Below } from "./trace-tree.ts";
import type { VisibleObjects } from "./visible-objects.ts";

export const maxSpans = 1_000;
/** More than an event may pass: see domain/invocation/hops.ts. Calls by hand of an earlier event begin to count again. */
const maxAncestors = 300;

/**
 * The trace of a run, event or delivery:
 *
 *     id ──▶ focus ──▶ its causes, up to the first one ──▶ all that they caused, level by level, up to a thousand spans
 *
 * The spans that lead to the focus are read first, so that they are in the trace however much else there is.
 *
 * @throws NotFound, InvalidInput
 */
export async function readTrace(id: string, records: TraceRecords, objects: VisibleObjects, isBelowOnly: boolean): Promise<Trace> {
  const focus = await findFocus(id, records, objects);
  const path = await pathTo(focus, records, objects, isBelowOnly);
  const tree = new TraceTree(records, objects, maxSpans, [...path.nodes.map(spanIdOf), focusId(focus)]);
  const top = addTop(path, tree);
  let above = top;
  for (const node of path.nodes) {
    if (!(await tree.addOfPath(above, node))) break;
    await tree.expand(node);
    above = spanIdOf(node);
  }
  if (focus.kind === "delivery") await tree.addDeliveries(above, focus.attempts);
  const root = top ?? path.nodes.map(spanIdOf)[0];
  if (path.above === "more" && root !== undefined) tree.cut(root);
  return { spans: tree.list(), focus: focusId(focus), isCut: tree.isCut, traceId: traceIdOf(path.nodes) };
}

/** What is above the first node: what has started its run, or something of another owner. */
function addTop({ nodes: [root], above }: Path, tree: TraceTree): string | null {
  if (above === "hidden") return tree.addHiddenRoot();
  if (above !== "nothing" || root?.kind !== "run" || root.run.cause !== null) return null;
  return tree.addRoot(triggerSpan(root.run));
}

interface Path {
  /** From the root. */
  readonly nodes: readonly Below[];
  /**
   * What caused the first node. `hidden`: it belongs to another owner, or was deleted with its source. `more`: there are more causes than
   * are read. `omitted`: it was not asked for.
   */
  readonly above: "nothing" | "hidden" | "more" | "omitted";
}

/** The runs and events that led to the focus, with it. A delivery is not part of it. */
async function pathTo(focus: Focus, records: TraceRecords, objects: VisibleObjects, isBelowOnly: boolean): Promise<Path> {
  const nearest = await nearestOf(focus, records, objects);
  const { run, nodes } = nearest;
  if (isBelowOnly && focus.kind !== "delivery") return { nodes: nodes.slice(-1), above: "omitted" };
  if (run === undefined) return { nodes, above: nearest.isHidden ? "hidden" : "nothing" };
  const ancestors = await records.ancestors({ emitter: run.emitter, run: run.id }, maxAncestors);
  const above = await visibleAbove(runSpanId(run), ancestors, records, objects);
  return { ...above, nodes: [...above.nodes, ...nodes] };
}

interface Nearest {
  /** From the nearest run to the focus. */
  readonly nodes: readonly Below[];
  /** The first of them, if it is a run. */
  readonly run?: TracedRun | undefined;
  /** What caused the first of them is not the caller's. */
  readonly isHidden?: true;
}

async function nearestOf(focus: Focus, records: TraceRecords, objects: VisibleObjects): Promise<Nearest> {
  switch (focus.kind) {
    case "run":
      return { nodes: [{ kind: "run", run: focus.run }], run: focus.run };
    case "event":
      return nearestOfEvent(focus.event, records);
    case "delivery": {
      const [{ source, event, listener, delivery }] = focus.attempts;
      if (source === listener && !isId("workflow", source)) return { nodes: [] }; // A test.
      if ((await objects.nameOf(source)) === undefined) return { nodes: [], isHidden: true };
      if (isRunId(event)) {
        const [run] = await records.runs([{ emitter: source, run: event }]);
        return run === undefined ? { nodes: [] } : { nodes: [{ kind: "run", run }], run };
      }
      const found = await records.findEvent(source, event);
      const gone = { ...goneEvent({ emitter: source, emitId: delivery.split(".", 1)[0] ?? delivery }) };
      return found === undefined ? { nodes: [{ kind: "event", event: gone }] } : nearestOfEvent(found, records);
    }
  }
}

async function nearestOfEvent(event: TracedEvent, records: TraceRecords): Promise<Nearest> {
  const [run] = event.run === null ? [] : await records.runs([{ emitter: event.emitter, run: event.run }]);
  const node = { kind: "event", event } as const;
  return run === undefined ? { nodes: [node] } : { nodes: [{ kind: "run", run }, node], run };
}

/** Nodes for the causes of the run `start`, up to the first that is unknown or of another owner. */
async function visibleAbove(start: string, ancestors: readonly Ancestor[], records: TraceRecords, objects: VisibleObjects): Promise<Path> {
  const keys = ancestors.flatMap(({ run }) => (run === undefined ? [] : [run]));
  const runs = new Map((await records.runs(keys)).map((run) => [runSpanId(run), run]));
  const nodes: Below[] = [];
  const seen = new Set([start]);
  for (const { cause, event, run: key } of ancestors) {
    if ((await objects.nameOf(cause.emitter)) === undefined) return { nodes, above: "hidden" };
    const isCall = event === undefined && key !== undefined;
    if (!isCall) nodes.unshift({ kind: "event", event: event ?? goneEvent(cause) });
    const run = key === undefined ? undefined : runs.get(runSpanId({ emitter: key.emitter, id: key.run }));
    if (run === undefined || seen.has(runSpanId(run))) return { nodes, above: "nothing" };
    seen.add(runSpanId(run));
    nodes.unshift({ kind: "run", run });
  }
  return { nodes, above: ancestors.length >= maxAncestors ? "more" : "nothing" };
}

const focusId = (focus: Focus): string => (focus.kind === "delivery" ? focus.attempts[0].delivery : spanIdOf(focus));

const traceIdOf = (nodes: readonly Below[]): string | null =>
  nodes.map((node) => (node.kind === "run" ? node.run.traceId : null)).find((id) => id !== null) ?? null;
