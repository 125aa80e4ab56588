import type { Kubernetes, KubernetesRequest } from "../access/connection.ts";
import { parseObjectList, type ObjectList } from "../object.ts";

export interface PagedList extends Pick<KubernetesRequest, "path" | "query" | "accept" | "signal"> {
  /** Objects on the next page. Default: 500. */
  readonly pageSize?: () => number;
}

const defaultPageSize = 500;

/** The pages of a list, one after the other. @throws Gone when it takes so long that the server drops the list's snapshot */
export async function* pagesOf(kubernetes: Kubernetes, { pageSize, query, ...list }: PagedList): AsyncGenerator<ObjectList> {
  for (let next = ""; ;) {
    const paging = { limit: pageSize?.() ?? defaultPageSize, continue: next === "" ? undefined : next };
    const page = parseObjectList(await kubernetes.request({ ...list, method: "GET", query: { ...query, ...paging } }));
    yield page;
    next = page.metadata.continue;
    if (next === "") return;
  }
}
