import { useMemo, useState } from "react";
import type { Event, Source } from "../../../client/generated/operations.ts";
import { useFollow, type Followed } from "../../api/follow.ts";
import { useChange, useList } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { ConfirmByName } from "../../parts/dialog.tsx";
import { inputLook } from "../../parts/field.tsx";
import { clip } from "../../parts/format.ts";
import { EmptyState, Loaded } from "../../parts/notices.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { EventDialog } from "./event-dialog.tsx";
import { text } from "./strings.ts";

const rowTextLength = 300;

/** What a row shows of an event. */
const summaryOf = ({ event, metadata }: Event): string => metadata.summary ?? clip(JSON.stringify(event) ?? "", rowTextLength);

function parseEvent(data: string, id: string | undefined): Event | undefined {
  if (id === undefined) return undefined;
  return { ...(JSON.parse(data) as Pick<Event, "event" | "metadata">), id, indexed_at_ms: Number(id.split("-")[0]) }; // By the form of the stream.
}

/** The stored events, and above them those that arrive while the page is open. */
export function EventsTab({ source }: { readonly source: Source }) {
  const [{ channel, q = "", event: shown }, setSearch] = useSearchParams();
  const stored = useList("listEvents", { path: { id: source.id }, query: { event_name: channel } });
  return (
    <Loaded isLoading={stored.isLoading} error={stored.items.length === 0 ? stored.error : null} retry={stored.reload}>
      <LiveEvents
        key={channel ?? ""}
        source={source}
        channel={channel}
        stored={stored}
        search={q}
        onSearch={(value) => setSearch({ q: value }, { replaces: true })}
        onOpen={(id) => setSearch({ event: id })}
      />
      {shown !== undefined && (
        <EventDialog source={source.id} id={shown} channel={channel} onClose={() => setSearch({ event: undefined })} />
      )}
    </Loaded>
  );
}

interface LiveEventsProps {
  readonly source: Source;
  readonly channel: string | undefined;
  readonly stored: ReturnType<typeof useList<"listEvents">>;
  readonly search: string;
  readonly onSearch: (search: string) => void;
  readonly onOpen: (id: string) => void;
}

function LiveEvents({ source, channel, stored, search, onSearch, onOpen }: LiveEventsProps) {
  const [isPaused, setIsPaused] = useState(false);
  // The stream continues behind the newest stored event, so that none is missing between the two.
  const [after] = useState(() => stored.items[0]?.id);
  const tail = useFollow(
    "streamEvents",
    { path: { id: source.id }, query: { event_name: channel } },
    { parse: parseEvent, isPaused, after },
  );
  const items = useMemo(() => {
    const live = new Set(tail.items.map(({ id }) => id));
    const all = [...tail.items, ...stored.items.filter(({ id }) => !live.has(id))];
    const wanted = search.toLowerCase();
    return wanted === ""
      ? all
      : all.filter((event) => `${summaryOf(event)} ${event.id} ${event.metadata.name}`.toLowerCase().includes(wanted));
  }, [tail.items, stored.items, search]);
  const channels = useMemo(
    () => [...new Set([...stored.items, ...tail.items].map(({ metadata }) => metadata.name))].sort(),
    [stored.items, tail.items],
  );
  const columns: readonly Column<Event>[] = [
    { title: text.time, parts: 2, cell: ({ indexed_at_ms: ms }) => <Time ms={ms} /> },
    {
      title: text.summary,
      parts: 6,
      cell: (event) => (
        <button type="button" className="max-w-full truncate text-left text-accent hover:underline" onClick={() => onOpen(event.id)}>
          <bdi>{summaryOf(event)}</bdi>
        </button>
      ),
    },
    { title: text.channel, parts: 2, isSecondary: true, cell: ({ metadata }) => metadata.name || text.defaultChannel },
  ];
  return (
    <>
      <Toolbar
        source={source}
        channel={channel}
        channels={channels}
        search={search}
        onSearch={onSearch}
        tail={tail}
        isPaused={isPaused}
        onPause={() => setIsPaused(!isPaused)}
      />
      <DataTable
        label={text.tabs.events}
        columns={columns}
        list={{ ...stored, items }}
        keyOf={({ id }) => id}
        onOpen={({ id }) => onOpen(id)}
        empty={
          <EmptyState title={search === "" ? text.noEvents : text.noMatch}>
            {search === "" && <p className="text-sm text-muted">{text.noEventsHint}</p>}
          </EmptyState>
        }
      />
    </>
  );
}

interface ToolbarProps extends Pick<LiveEventsProps, "source" | "channel" | "search" | "onSearch"> {
  readonly channels: readonly string[];
  readonly tail: Followed<Event>;
  readonly isPaused: boolean;
  readonly onPause: () => void;
}

function Toolbar({ source, channel, channels, search, onSearch, tail, isPaused, onPause }: ToolbarProps) {
  const [, setSearch] = useSearchParams();
  const names = [...new Set([...channels, ...(channel === undefined ? [] : [channel])])].filter((name) => name !== "");
  return (
    <div className="flex flex-wrap items-center gap-2">
      <SearchField label={text.filter} value={search} onChange={onSearch} />
      <select
        aria-label={text.channel}
        className={`${inputLook} max-w-48`}
        value={channel ?? "*"}
        onChange={(event) => setSearch({ channel: event.target.value === "*" ? undefined : event.target.value })}
      >
        <option value="*">{text.allChannels}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <span role="status">
        <State state={tail.connection} label={text.connection[tail.connection]} />
      </span>
      <Button onClick={onPause}>{isPaused ? text.continueTail(tail.waiting) : text.pauseTail}</Button>
      <DeleteEvents source={source} />
    </div>
  );
}

function DeleteEvents({ source }: { readonly source: Source }) {
  const [isOpen, setIsOpen] = useState(false);
  const remove = useChange("deleteEvents", {
    onDone: () => {
      setIsOpen(false);
      showToast(text.eventsDeleted);
    },
  });
  return (
    <>
      <Button kind="quiet" className="ml-auto" onClick={() => setIsOpen(true)}>
        {text.deleteEvents}
      </Button>
      <ConfirmByName
        title={text.deleteEvents}
        name={source.name}
        action={text.deleteEvents}
        isOpen={isOpen}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ path: { id: source.id } })}
        onClose={() => setIsOpen(false)}
      >
        {text.deleteEventsText}
      </ConfirmByName>
    </>
  );
}
