import { useQuery } from "@tanstack/react-query";
import { readEvent } from "../../api/read-event.ts";
import { Loaded } from "../../parts/notices.tsx";
import { Tree } from "../../parts/tree.tsx";
import { text } from "./strings.ts";

/** The event of a delivery, if it is still stored. */
export function EventPayload({ source, id, channel }: { readonly source: string; readonly id: string; readonly channel: string }) {
  const read = useQuery({
    queryKey: ["event payload", source, id],
    queryFn: ({ signal }) => readEvent(source, id, signal, channel),
  });
  return (
    <Loaded isLoading={read.isPending} error={read.error}>
      {read.data === null || read.data === undefined ? (
        <p className="text-sm text-muted">{text.payloadGone}</p>
      ) : (
        <div className="max-h-[40dvh] overflow-auto rounded-md bg-page p-3" tabIndex={0} role="group" aria-label={text.event}>
          <Tree value={read.data.event} />
        </div>
      )}
    </Loaded>
  );
}
