import { useEffect, useState, type FormEvent } from "react";
import { useSearch } from "../../api/search.ts";
import { Button } from "../../parts/button.tsx";
import { Checkbox, inputLook } from "../../parts/field.tsx";
import { formatCount } from "../../parts/format.ts";
import { EmptyState } from "../../parts/notices.tsx";
import { Page } from "../../parts/page.tsx";
import { useSearchParams } from "../../parts/search.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { Live } from "./live.tsx";
import { Results } from "./results.tsx";
import { text } from "./strings.ts";

/** Searches the history. The query is in the address: a link shows the same to others, as far as they may see it. */
export function SearchPage() {
  const [{ q, live }, setSearch] = useSearchParams();
  const isLive = live === "true";
  const owner = useOwnerQuery();
  const results = useSearch(q, owner);
  const submit = (typed: string): void => (typed.trim() === q ? results.retry() : setSearch({ q: typed.trim() }));
  return (
    <Page
      title={text.title}
      note={
        !isLive && results.items.length > 0 && <span className="text-sm text-muted">{text.count(formatCount(results.items.length))}</span>
      }
    >
      <QueryForm value={q ?? ""} onSubmit={submit} />
      {q !== undefined && (
        <Checkbox
          role="switch"
          label={text.live}
          checked={isLive}
          onChange={() => setSearch({ live: isLive ? undefined : "true" }, { replaces: true })}
        />
      )}
      {q === undefined ? (
        <Examples onChoose={(example) => setSearch({ q: example })} />
      ) : isLive ? (
        <Live key={`${owner.org_id ?? ""} ${q}`} q={q} results={results} />
      ) : (
        <Results results={results} />
      )}
    </Page>
  );
}

function QueryForm({ value, onSubmit }: { readonly value: string; readonly onSubmit: (typed: string) => void }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typed.trim() !== "") onSubmit(typed);
  };
  return (
    <form role="search" className="flex flex-wrap gap-2" onSubmit={submit}>
      <input
        type="search"
        data-search
        autoFocus={value === ""}
        aria-label={text.label}
        placeholder={text.label}
        maxLength={1_000}
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        className={`${inputLook} max-w-2xl flex-1 basis-24 font-mono`}
      />
      <Button kind="primary" type="submit">
        {text.submit}
      </Button>
    </form>
  );
}

function Examples({ onChoose }: { readonly onChoose: (query: string) => void }) {
  return (
    <EmptyState title={text.start}>
      <p className="text-sm text-muted">{text.startHint}</p>
      <dl className="grid min-w-0 gap-2 text-sm">
        {text.examples.map(([query, finds]) => (
          <div key={query} className="min-w-0">
            <dt>
              <button
                type="button"
                className="max-w-full break-words text-left font-mono text-accent hover:underline"
                onClick={() => onChoose(query)}
              >
                {query}
              </button>
            </dt>
            <dd className="text-muted">{finds}</dd>
          </div>
        ))}
      </dl>
    </EmptyState>
  );
}
