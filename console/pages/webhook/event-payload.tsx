import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/queries.ts";
import { Loaded } from "../../parts/notices.tsx";
import { Tree } from "../../parts/tree.tsx";
import { text } from "./strings.ts";

/** The event of a delivery, if it is still stored. */
export function EventPayload({ source, id, channel }: { readonly source: string; readonly id: string; readonly channel: string }) {
  const at = id.split("-")[0] ?? "";
  const query = { event_name: channel, since: at, until: at, expand: "event" };
  const read = useQuery({
    queryKey: ["event payload", source, id],
    queryFn: async ({ signal }) => {
      const list = source.startsWith("p_")
        ? await api.call("listWorkflowEvents", { path: { workflow_id: source }, query }, { signal })
        : await api.call("listEvents", { path: { id: source }, query }, { signal });
      return list.data.find((event) => event.id === id) ?? null;
    },
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
