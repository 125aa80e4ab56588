import { useMemo } from "react";
import { useList } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";

/** Names of sources, webhooks and workflows by id, as far as one page of each has them. Others are shown by their id. */
export function useNames(): ReadonlyMap<string, string> {
  const query = useOwnerQuery();
  const sources = useList("listMySources", { query });
  const webhooks = useList("listMyWebhooks", { query });
  const workflows = useList("listMyWorkflows", { query });
  return useMemo(
    () =>
      new Map([
        ...sources.items.map(({ id, name }) => [id, name] as const),
        ...webhooks.items.map(({ id, name, url }) => [id, name ?? url] as const),
        ...workflows.items.map(({ id, name }) => [id, name] as const),
      ]),
    [sources.items, webhooks.items, workflows.items],
  );
}

/** The page of a resource; undefined for patterns such as `dc_*`. */
export function pageOf(id: string): string | undefined {
  if (/^dc_\w+$/.test(id)) return "/sources/$id";
  if (/^wh_\w+$/.test(id)) return "/webhooks/$id";
  if (/^p_\w+$/.test(id)) return "/workflows/$id";
  return undefined;
}
