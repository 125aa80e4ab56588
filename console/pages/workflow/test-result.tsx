import type { WorkflowTest } from "../../../client/generated/operations.ts";
import { formatDuration } from "../../parts/format.ts";
import { LogLines } from "../../parts/log-lines.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { State } from "../../parts/state.tsx";
import { Tree } from "../../parts/tree.tsx";
import { text } from "./strings.ts";

/** What a test of the steps did, step by step. */
export function TestResult({ test }: { readonly test: WorkflowTest }) {
  return (
    <section aria-label={text.testResult} className="flex min-w-0 flex-col gap-3">
      <p className="flex flex-wrap items-center gap-3 text-sm">
        <State state={test.status} /> {formatDuration(test.duration_ms)}
      </p>
      {test.error !== null && <ErrorNotice title={test.error.name} error={new Error(test.error.stack ?? test.error.message)} />}
      {test.steps.map((step) => (
        <div key={step.id} className="flex min-w-0 flex-col gap-2 rounded-md border border-line p-3">
          <p className="flex flex-wrap items-center gap-3 text-sm">
            <bdi className="font-medium">{step.name}</bdi> <State state={step.outcome} /> {formatDuration(step.duration_ms)}
          </p>
          {step.inputs !== null && step.inputs !== undefined && <Tree name={text.inputs} value={step.inputs} />}
          {Object.keys(step.exports).length > 0 && <Tree name={text.exports} value={step.exports} />}
          {step.$return_value !== undefined && <Tree name={text.returned} value={step.$return_value} />}
          {step.sends.length > 0 && <Tree name={text.wouldSend} value={step.sends} />}
          {step.logs.length > 0 && <LogLines records={step.logs} />}
        </div>
      ))}
    </section>
  );
}
