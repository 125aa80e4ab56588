import type { Workflow } from "../../../client/generated/operations.ts";
import { useList } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { ErrorGroups } from "../../parts/error-groups.tsx";
import { text } from "./strings.ts";

export function ErrorsTab({ workflow }: { readonly workflow: Workflow }) {
  const [, setSearch] = useSearchParams();
  const list = useList("listWorkflowRuns", { path: { workflow_id: workflow.id }, query: { status: "failed" } });
  return <ErrorGroups list={list} empty={text.noErrors} emptyHint={text.noErrorsHint} onShow={(run) => setSearch({ tab: "runs", run })} />;
}
