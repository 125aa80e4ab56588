import type { SearchItem } from "../../../client/generated/operations.ts";
import { TextLink } from "../../parts/button.tsx";
import { State } from "../../parts/state.tsx";
import { Time } from "../../parts/time.tsx";
import { TraceLink } from "../../parts/trace-link.tsx";
import { text } from "./strings.ts";

/** An item that was found: it leads to its trace, to its source or workflow, and from an event to the list with it. */
export function Result({ item }: { readonly item: SearchItem }) {
  const { at_ms: at, excerpt, trace_id: trace, source_name: name, channel } = item;
  return (
    <li className="flex min-w-0 flex-col gap-1 border-b border-line py-2 text-sm">
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 text-muted">
        <State {...stateOf(item)} />
        <Time ms={at} />
        <TextLink {...pageOf(item)} className="min-w-0 break-words">
          <bdi>{name}</bdi>
        </TextLink>
        {channel !== null && channel !== "" && <bdi className="min-w-0 break-words font-mono text-xs">{channel}</bdi>}
        {item.kind === "event" && (
          <TextLink {...pageOf(item, item.id)} className="min-w-0">
            {text.showEvent}
          </TextLink>
        )}
      </div>
      <TraceLink id={trace} className="min-w-0 break-words">
        <bdi className="font-mono text-xs">{excerpt === "" ? text.noText : excerpt}</bdi>
      </TraceLink>
    </li>
  );
}

/** A kind with its level or status, in the colour of the latter. */
function stateOf({ kind, level, status }: SearchItem): { readonly state: string; readonly label: string } {
  if (kind === "log" && level !== null)
    return { state: level === "error" ? "failed" : level === "warn" ? "degraded" : "", label: `${text.kinds.log} ${level}` };
  if (kind === "run" && status !== null) return { state: status, label: `${text.kinds.run} ${text.statuses[status]}` };
  return { state: kind === "error" ? "failed" : "", label: text.kinds[kind] };
}

/** Pages of their own are not known to the types of links. */
function pageOf({ source_id: id }: SearchItem, event?: string) {
  const isWorkflow = id.startsWith("p_");
  const search = event === undefined ? {} : isWorkflow ? { tab: "events" } : { event };
  return { to: isWorkflow ? "/workflows/$id" : "/sources/$id", params: { id } as never, search: search as never };
}
