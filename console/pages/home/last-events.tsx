import { useQueries } from "@tanstack/react-query";
import type { Source } from "../../../client/generated/operations.ts";
import { api } from "../../api/queries.ts";
import { TextLink } from "../../parts/button.tsx";
import { clip } from "../../parts/format.ts";
import { Section } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { text } from "./strings.ts";

const refreshMs = 15_000;
/** Sources that have run last; each takes a request. */
const maxSources = 3;
const maxEvents = 8;
const maxLength = 120;

/** The last events of the sources that ran last. */
export function LastEvents({ sources }: { readonly sources: readonly Source[] }) {
  const latest = sources
    .filter((source) => source.last_run_at !== null)
    .toSorted((one, other) => (other.last_run_at ?? 0) - (one.last_run_at ?? 0))
    .slice(0, maxSources);
  const lists = useQueries({
    queries: latest.map(({ id }) => ({
      queryKey: ["listEvents", id, "newest"],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        api.call("listEvents", { path: { id }, query: { limit: maxEvents } }, { signal }),
      staleTime: refreshMs,
      refetchInterval: refreshMs,
    })),
  });
  const events = lists
    .flatMap(({ data }, index) =>
      (data?.data ?? []).map((event) => ({ ...event, source: latest[index]?.id ?? "", name: latest[index]?.name ?? "" })),
    )
    .toSorted((one, other) => other.indexed_at_ms - one.indexed_at_ms)
    .slice(0, maxEvents);
  return (
    <Section title={text.lastEvents}>
      {events.length === 0 && <p className="text-sm text-muted">{text.noEvents}</p>}
      <ul className="flex flex-col gap-1">
        {events.map(({ id, source, name, event, metadata, indexed_at_ms: ms }) => (
          <li key={`${source} ${id}`} className="flex min-w-0 items-center gap-x-3 text-sm">
            <TextLink
              to="/sources/$id"
              params={{ id: source } as never}
              search={{ event: id } as never}
              className="min-w-0 flex-1 truncate"
            >
              <bdi>{metadata.summary ?? clip(JSON.stringify(event) ?? "", maxLength)}</bdi>
            </TextLink>
            <bdi className="min-w-0 truncate text-muted max-sm:hidden">{name}</bdi>
            <span className="text-muted">
              <Time ms={ms} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
