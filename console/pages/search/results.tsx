import { keyOfItem, type SearchResults } from "../../api/search.ts";
import { Button } from "../../parts/button.tsx";
import { formatTime } from "../../parts/format.ts";
import { EmptyState, ErrorNotice, Loading } from "../../parts/notices.tsx";
import { Result } from "./result.tsx";
import { text } from "./strings.ts";

interface ResultsProps {
  readonly results: SearchResults;
  /** A person has moved to one of them. */
  readonly onChoose?: () => void;
}

/** What was found, and how far back. */
export function Results({ results, onChoose }: ResultsProps) {
  const { items, error, searchedToMs, isSearching, isFirst, searchFurther, retry } = results;
  const isEmpty = items.length === 0 && !isFirst && error === null;
  return (
    <>
      {isFirst && items.length === 0 && <Loading />}
      {items.length > 0 && (
        <ol aria-label={text.results} onFocus={onChoose} className="flex min-w-0 flex-col">
          {items.map((item) => (
            <Result key={keyOfItem(item)} item={item} />
          ))}
        </ol>
      )}
      {isEmpty && (
        <EmptyState title={searchedToMs === null ? text.nothing : text.nothingYet}>
          {searchedToMs === null && <p className="text-sm text-muted">{text.nothingHint}</p>}
        </EmptyState>
      )}
      {error !== null && <ErrorNotice title={text.failed} error={error} retry={retry} />}
      {searchedToMs !== null && error === null && (
        <div role="status" className="flex flex-wrap items-center gap-3 text-sm text-muted">
          <span>
            {text.searchedTo} <time dateTime={new Date(searchedToMs).toISOString()}>{formatTime(searchedToMs)}</time>
          </span>
          <Button disabled={isSearching} onClick={searchFurther}>
            {isSearching ? text.searching : text.further}
          </Button>
        </div>
      )}
    </>
  );
}
