import type { Source } from "../../../client/generated/operations.ts";
import { useList } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { ErrorGroups } from "../../parts/error-groups.tsx";
import { text } from "./strings.ts";

export function ErrorsTab({ source }: { readonly source: Source }) {
  const [, setSearch] = useSearchParams();
  const list = useList("listRuns", { path: { id: source.id }, query: { failed: true } });
  return <ErrorGroups list={list} empty={text.noErrors} emptyHint={text.noErrorsHint} onShow={(run) => setSearch({ tab: "runs", run })} />;
}
