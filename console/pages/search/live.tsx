import { useEffect, useState } from "react";
import { useLiveSearch, type SearchResults } from "../../api/search.ts";
import { Button } from "../../parts/button.tsx";
import { formatCount } from "../../parts/format.ts";
import { ErrorNotice } from "../../parts/notices.tsx";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { State } from "../../parts/state.tsx";
import { Results } from "./results.tsx";
import { text } from "./strings.ts";

interface LiveProps {
  readonly q: string;
  readonly results: SearchResults;
}

/** New matches above the results. What a person reads stays where it is: it pauses when they scroll down or choose a result. */
export function Live({ q, results }: LiveProps) {
  const [isPaused, setIsPaused] = useState(false);
  const { items, connection, waiting, error, hasSkipped } = useLiveSearch(q, useOwnerQuery(), results, isPaused);
  useEffect(() => {
    const pause = (): void => {
      if (globalThis.scrollY > 0) setIsPaused(true);
    };
    globalThis.addEventListener("scroll", pause, { passive: true });
    return () => globalThis.removeEventListener("scroll", pause);
  }, []);
  const toggle = (): void => {
    if (isPaused) globalThis.scrollTo({ top: 0, behavior: "instant" });
    setIsPaused(!isPaused);
  };
  const isShownPaused = isPaused && connection === "connected";
  return (
    <>
      {error === undefined ? (
        <div className="flex flex-wrap items-center gap-2">
          <span role="status">
            <State state={isShownPaused ? "waiting" : connection} label={isShownPaused ? text.paused : text.connection[connection]} />
          </span>
          <Button onClick={toggle}>{isPaused ? text.continueLive(formatCount(waiting)) : text.pauseLive}</Button>
        </div>
      ) : (
        <ErrorNotice title={text.connection.refused} error={error} />
      )}
      {hasSkipped && (
        <p role="status" className="text-sm text-warn">
          {text.skipped}
        </p>
      )}
      <Results results={{ ...results, items }} onChoose={() => setIsPaused(true)} />
    </>
  );
}
