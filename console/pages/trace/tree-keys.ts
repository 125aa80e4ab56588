import type { Span } from "../../../client/generated/operations.ts";

/** Spans that are shown: those below a closed one are not. */
export function shownSpans(spans: readonly Span[], closed: ReadonlySet<string>): readonly Span[] {
  let hiddenBelow = Number.POSITIVE_INFINITY;
  return spans.filter(({ id, depth }) => {
    if (depth > hiddenBelow) return false;
    hiddenBelow = closed.has(id) ? depth : Number.POSITIVE_INFINITY;
    return true;
  });
}

export const hasChildren = (spans: readonly Span[], index: number): boolean => (spans[index + 1]?.depth ?? 0) > (spans[index]?.depth ?? 0);

export type TreeMove = { readonly kind: "select"; readonly id: string } | { readonly kind: "open" | "close"; readonly id: string };

interface Tree {
  /** All spans, depth first. */
  readonly spans: readonly Span[];
  readonly closed: ReadonlySet<string>;
  readonly selected: string;
}

/** What a key does in the tree (ARIA Authoring Practices, "Treegrid"); undefined: nothing. */
export function moveOf(key: string, { spans, closed, selected }: Tree): TreeMove | undefined {
  const shown = shownSpans(spans, closed);
  const at = shown.findIndex(({ id }) => id === selected);
  const current = shown[at];
  const select = (span: Span | undefined): TreeMove | undefined => (span === undefined ? undefined : { kind: "select", id: span.id });
  if (current === undefined) return select(shown[0]);
  const isParent = hasChildren(spans, spans.indexOf(current));
  switch (key) {
    case "ArrowDown":
      return select(shown[at + 1]);
    case "ArrowUp":
      return select(shown[at - 1]);
    case "Home":
      return select(shown[0]);
    case "End":
      return select(shown.at(-1));
    case "ArrowRight":
      if (isParent && closed.has(current.id)) return { kind: "open", id: current.id };
      return isParent ? select(shown[at + 1]) : undefined;
    case "ArrowLeft":
      if (isParent && !closed.has(current.id)) return { kind: "close", id: current.id };
      return select(shown.find(({ id }) => id === current.parent_id));
    default:
      return undefined;
  }
}
