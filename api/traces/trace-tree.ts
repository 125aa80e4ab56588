import type { EventCause } from "../../domain/invocation/invocation.ts";
import { isId } from "../../domain/ids.ts";
import { deliverySpans, eventSpan, eventSpanId } from "../../domain/trace/event-spans.ts";
import type { TracedAttempt, TracedEvent, TracedRun } from "../../domain/trace/records.ts";
import { runSpan, runSpanId, waitsOf } from "../../domain/trace/run-spans.ts";
import type { Span, TreeSpan } from "../../domain/trace/span.ts";
import { SpanTree } from "../../domain/trace/span-tree.ts";
import { stepSpans } from "../../domain/trace/step-spans.ts";
import { callId } from "../../domain/workflow/call.ts";
import type { Found, TraceRecords } from "./ports.ts";
import type { VisibleObjects } from "./visible-objects.ts";

/** What may have something below it. */
export type Below = { readonly kind: "run"; readonly run: TracedRun } | { readonly kind: "event"; readonly event: TracedEvent };

export const spanIdOf = (node: Below): string => (node.kind === "run" ? runSpanId(node.run) : eventSpanId(node.event));

/** What may have started runs: an event, or the commit of a step, which may have called one. */
interface Cause extends EventCause {
  readonly span: string;
}

interface Level {
  readonly nodes: readonly Below[];
  readonly calls: readonly Cause[];
}

/** Reads the tree below spans, level by level. What the caller may not see becomes a leaf without name and ids. */
export class TraceTree {
  readonly #records: TraceRecords;
  readonly #objects: VisibleObjects;
  readonly #tree: SpanTree;
  readonly #expanded = new Set<string>();
  /** Spans that lead to the focus, and are not in the tree yet: there is room for them. */
  readonly #missing: Set<string>;
  #hidden = 0;

  /** @param path ids of the spans that lead to the focus */
  constructor(records: TraceRecords, objects: VisibleObjects, limit: number, path: readonly string[]) {
    this.#records = records;
    this.#objects = objects;
    this.#tree = new SpanTree(limit);
    this.#missing = new Set(path);
  }

  get isCut(): boolean {
    return this.#tree.isCut;
  }

  list(): readonly TreeSpan[] {
    return this.#tree.list();
  }

  has(span: string): boolean {
    return this.#tree.has(span);
  }

  /** Notes that there is more above or below the span. */
  cut(span: string): void {
    this.#tree.cut(span);
  }

  addRoot(span: Span): string {
    this.#tree.add(null, span);
    return span.id;
  }

  addHiddenRoot(): string {
    return this.addRoot(this.#hiddenSpan("event"));
  }

  /** Adds a span that leads to the focus. @param above null: it is the root @returns false: it is hidden */
  async addOfPath(above: string | null, node: Below): Promise<boolean> {
    if (this.#tree.has(spanIdOf(node))) return true;
    if (node.kind === "event") return this.#add(above, eventSpan(node.event));
    const name = await this.#objects.nameOf(node.run.emitter);
    if (name === undefined) {
      this.#add(above, this.#hiddenSpan("run"));
      return false;
    }
    this.#add(above, runSpan(node.run, name));
    for (const wait of waitsOf(node.run)) this.#add(spanIdOf(node), wait);
    return true;
  }

  /** Reads what is below the node, unless that was done before. */
  async expand(start: Below): Promise<void> {
    let level: Level = { nodes: [start], calls: [] };
    while (level.nodes.length > 0 || level.calls.length > 0) {
      const nodes = level.nodes.filter((node) => !this.#expanded.has(spanIdOf(node)));
      if (this.#room === 0) return nodes.forEach((node) => this.#tree.cut(spanIdOf(node)));
      for (const node of nodes) this.#expanded.add(spanIdOf(node));
      level = await this.#readLevel(nodes, level.calls);
    }
  }

  async addDeliveries(parent: string | null, attempts: readonly TracedAttempt[]): Promise<void> {
    for (const delivery of Map.groupBy(attempts, ({ delivery }) => delivery).values()) {
      const [first, ...more] = delivery;
      if (first === undefined || this.#tree.has(first.delivery)) continue;
      const name = await this.#objects.nameOf(first.listener);
      if (name === undefined) this.#add(parent, this.#hiddenSpan("delivery"));
      else this.#addGroup(parent, deliverySpans([first, ...more], name));
    }
  }

  get #room(): number {
    return Math.max(0, this.#tree.room - this.#missing.size);
  }

  #add(parent: string | null, span: Span): boolean {
    if (this.#missing.delete(span.id) || this.#room > 0) return this.#tree.add(parent, span);
    if (parent !== null && !this.#tree.has(span.id)) this.#tree.cut(parent);
    return false;
  }

  #addGroup(parent: string | null, { span, children }: { readonly span: Span; readonly children: readonly Span[] }): boolean {
    const isAdded = this.#add(parent, span);
    if (isAdded) for (const child of children) this.#add(span.id, child);
    return isAdded;
  }

  async #readLevel(nodes: readonly Below[], calls: readonly Cause[]): Promise<Level> {
    const runs = nodes.flatMap((node) => (node.kind === "run" ? [node.run] : []));
    const events = nodes.flatMap((node) => (node.kind === "event" ? [node.event] : []));
    const ofWorkflows = runs.filter(({ emitter }) => isId("workflow", emitter));
    const causes = [...events.map((event) => ({ ...event, span: eventSpanId(event) })), ...calls];
    const sending = [
      ...events.map((event) => ({ span: eventSpanId(event), source: event.emitter, emitId: event.emitId })),
      ...ofWorkflows.map((run) => ({ span: runSpanId(run), source: run.emitter, emitId: run.id })),
    ];
    const keyOf = ({ emitter, id: run, startedAt }: TracedRun) => ({ emitter, run, startedAt });
    const limit = this.#room + 1;
    const [steps, emitted, attempts, caused] = await Promise.all([
      ofWorkflows.length === 0 ? [] : this.#records.steps(ofWorkflows.map(keyOf), limit),
      runs.length === 0 ? [] : this.#records.events(runs.map(keyOf), limit),
      sending.length === 0 ? [] : this.#records.deliveries(sending, limit),
      causes.length === 0 ? [] : this.#records.caused(causes, limit),
    ]);
    const madeCalls = await this.#addSteps(ofWorkflows, this.#noteUnread(steps, limit, ofWorkflows.map(runSpanId)));
    const below = [
      ...this.#addEvents(runs, this.#noteUnread(emitted, limit, runs.map(runSpanId))),
      ...(await this.#addRuns(
        causes,
        this.#noteUnread(
          caused,
          limit,
          causes.map(({ span }) => span),
        ),
      )),
    ];
    const sent = Map.groupBy(
      this.#noteUnread(
        attempts,
        limit,
        sending.map(({ span }) => span),
      ),
      ({ of }) => of,
    );
    for (const [of, rows] of sent)
      await this.addDeliveries(
        sending[of]?.span ?? null,
        rows.map(({ row }) => row),
      );
    return { nodes: below, calls: madeCalls };
  }

  /** Where a read has reached its limit, the last parents may have more. */
  #noteUnread<Row>(found: readonly Found<Row>[], limit: number, parents: readonly string[]): readonly Found<Row>[] {
    const last = found.at(-1);
    if (last !== undefined && found.length >= limit) for (const parent of parents.slice(last.of)) this.#tree.cut(parent);
    return found;
  }

  /**
   * A step within another one is below the last execution of that one, as far as the workflow still has both. Where items run side by side, that
   * may be the one of another item: commits do not name it.
   */
  async #addSteps(runs: readonly TracedRun[], found: Awaited<ReturnType<TraceRecords["steps"]>>): Promise<readonly Cause[]> {
    const calls: Cause[] = [];
    for (const [of, rows] of Map.groupBy(found, (row) => row.of)) {
      const run = runs[of];
      if (run === undefined) continue;
      const around = await this.#objects.stepsAround(run.emitter);
      const last = new Map<string, string>();
      for (const { span, children, commits } of stepSpans(
        run,
        rows.map(({ row }) => row),
      )) {
        const name = span.name ?? "";
        const outside = around.get(name);
        const outer = outside === undefined ? undefined : last.get(outside);
        if (!this.#addGroup(outer ?? runSpanId(run), { span, children })) continue;
        last.set(name, span.id);
        calls.push(...commits.map((number) => ({ span: span.id, emitter: run.emitter, emitId: callId(run.id, number) })));
      }
    }
    return calls;
  }

  #addEvents(runs: readonly TracedRun[], found: readonly Found<TracedEvent>[]): readonly Below[] {
    return found.flatMap(({ of, row }): Below[] => {
      const run = runs[of];
      const isAdded = run !== undefined && this.#add(runSpanId(run), eventSpan(row));
      return isAdded ? [{ kind: "event", event: row }] : [];
    });
  }

  async #addRuns(causes: readonly Cause[], found: readonly Found<TracedRun>[]): Promise<readonly Below[]> {
    const emitters = [...new Set(found.map(({ row }) => row.emitter))];
    const names = new Map(await Promise.all(emitters.map(async (id) => [id, await this.#objects.nameOf(id)] as const)));
    return found.flatMap(({ of, row }): Below[] => {
      const parent = causes[of]?.span;
      const name = names.get(row.emitter);
      if (parent === undefined) return [];
      const isAdded = this.#add(parent, name === undefined ? this.#hiddenSpan("run") : runSpan(row, name));
      if (!isAdded || name === undefined) return [];
      for (const wait of waitsOf(row)) this.#add(runSpanId(row), wait);
      return [{ kind: "run", run: row }];
    });
  }

  #hiddenSpan(kind: Span["kind"]): Span {
    return { id: `hidden-${++this.#hidden}`, kind, name: null, startedAt: null, endedAt: null, isHidden: true };
  }
}
