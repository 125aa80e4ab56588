import { Button } from "../button.tsx";
import { EmptyState } from "../notices.tsx";
import type { ListState } from "./list-state.ts";
import { text } from "./strings.ts";

interface NoMatchProps {
  readonly title: string;
  /** Of the button that takes search and facets away. */
  readonly clear: string;
  readonly state: ListState;
}

/** Instead of a list in which nothing matches. */
export function NoMatch({ title, clear, state: { facets, setSearch } }: NoMatchProps) {
  const none = Object.fromEntries(["q", ...facets.map(({ name }) => name)].map((name) => [name, undefined]));
  return (
    <EmptyState title={title}>
      <p className="text-sm text-muted">{text.noMatchHint}</p>
      <Button onClick={() => setSearch(none)}>{clear}</Button>
    </EmptyState>
  );
}
