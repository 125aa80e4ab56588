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
  const { items, connection, waiting, error, lostBecause, hasSkipped } = useLiveSearch(q, useOwnerQuery(), results, isPaused);
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
      <div className="flex flex-wrap items-center gap-2">
        {/* It stays while its content changes, so that screen readers read the changes. */}
        <div role="status" className="flex min-w-0 flex-wrap items-center gap-2">
          <State state={isShownPaused ? "waiting" : connection} label={isShownPaused ? text.paused : text.connection[connection]} />
          {lostBecause !== undefined && <span className="min-w-0 break-words text-sm text-warn">{lostBecause.message}</span>}
          {hasSkipped && <span className="min-w-0 text-sm text-warn">{text.skipped}</span>}
        </div>
        {error === undefined && <Button onClick={toggle}>{isPaused ? text.continueLive(formatCount(waiting)) : text.pauseLive}</Button>}
      </div>
      {error !== undefined && <ErrorNotice title={text.failedLive} error={error} />}
      <Results results={{ ...results, items }} onChoose={() => setIsPaused(true)} />
    </>
  );
}
