import type { Span, TreeSpan } from "./span.ts";

interface Node {
  readonly span: Span;
  readonly parent: string | null;
  readonly children: string[];
  hasMore: boolean;
}

/** Spans of a trace with a limit. Each span has one place: forged causes that form a cycle end where a span would be repeated. */
export class SpanTree {
  readonly #nodes = new Map<string, Node>();
  readonly #limit: number;
  #root: string | undefined;
  #isCut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get room(): number {
    return Math.max(0, this.#limit - this.#nodes.size);
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  has(id: string): boolean {
    return this.#nodes.has(id);
  }

  /** Adds it below its parent, or as the root. @returns false if there is no room, or the tree has a span with this id */
  add(parent: string | null, span: Span): boolean {
    if (this.#nodes.has(span.id)) return false;
    const above = parent === null ? undefined : this.#nodes.get(parent);
    if (this.room === 0) {
      if (above !== undefined) this.#mark(above);
      return false;
    }
    if (above === undefined && this.#root !== undefined) return false;
    this.#nodes.set(span.id, { span, parent: above === undefined ? null : parent, children: [], hasMore: false });
    if (above === undefined) this.#root = span.id;
    else above.children.push(span.id);
    return true;
  }

  /** Notes that not all that is below the span was read. */
  cut(id: string): void {
    const node = this.#nodes.get(id);
    if (node !== undefined) this.#mark(node);
  }

  #mark(node: Node): void {
    node.hasMore = true;
    this.#isCut = true;
  }

  /** Depth first, siblings in order of time. */
  list(): readonly TreeSpan[] {
    const spans: TreeSpan[] = [];
    const left = this.#root === undefined ? [] : [{ id: this.#root, depth: 0 }];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const node = this.#nodes.get(next.id);
      if (node === undefined) continue;
      const { span, parent, children, hasMore } = node;
      spans.push({ ...span, parent, depth: next.depth, ...(hasMore ? { hasMore: true } : {}) });
      const depth = next.depth + 1;
      const ordered = children.toSorted((a, b) => this.#startOf(a) - this.#startOf(b));
      left.push(...ordered.reverse().map((id) => ({ id, depth })));
    }
    return spans;
  }

  /** What is hidden comes last. */
  #startOf(id: string): number {
    return this.#nodes.get(id)?.span.startedAt ?? Infinity;
  }
}
