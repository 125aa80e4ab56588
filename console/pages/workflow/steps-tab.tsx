import { useState } from "react";
import type { Workflow } from "../../../client/generated/operations.ts";
import { useChange } from "../../api/queries.ts";
import { useDraft } from "../../parts/draft.ts";
import { useCanWrite } from "../../parts/session-context.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { TextArea } from "../../parts/field.tsx";
import { ErrorNotice, RestoredNotice } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { AddStep } from "./add-step.tsx";
import { StepEditor } from "./step-editor.tsx";
import { StepOutline } from "./step-outline.tsx";
import { draftOf, haveSameSteps, moved, stepInputs, type StepDraft } from "./steps-draft.ts";
import { text } from "./strings.ts";
import { TestResult } from "./test-result.tsx";

/** The steps, to change, test and deploy. */
export function StepsTab({ workflow }: { readonly workflow: Workflow }) {
  const [saved, setSaved] = useState<readonly StepDraft[]>(() => workflow.steps.map(draftOf));
  const { value: drafts, change: setDrafts, ...draft } = useDraft(`steps of ${workflow.id}`, saved, haveSameSteps);
  const canWrite = useCanWrite();
  const save = useChange("updateWorkflow", {
    onDone: ({ data }) => {
      const deployed = data.steps.map(draftOf);
      setSaved(deployed);
      setDrafts(deployed);
      draft.forget();
      showToast(text.saved);
    },
  });
  const steps = stepInputs(drafts);
  const replace = (index: number) => (step: StepDraft) => setDrafts(drafts.with(index, step));
  return (
    <>
      {draft.isRestored && <RestoredNotice discard={draft.discard} />}
      <StepOutline drafts={drafts} />
      {drafts.map((step, index) => (
        <StepEditor
          key={step.row}
          number={index + 1}
          draft={step}
          onChange={replace(index)}
          onMove={(by) => setDrafts(moved(drafts, index, by))}
          onRemove={() => setDrafts(drafts.toSpliced(index, 1))}
        />
      ))}
      {save.error !== null && <ErrorNotice title={text.saveFailed} error={save.error} />}
      {canWrite && (
        <div className="flex flex-wrap gap-2">
          <AddStep number={drafts.length + 1} onAdd={(step) => setDrafts([...drafts, step])} />
          <Button
            kind="primary"
            disabled={save.isPending || steps === undefined}
            onClick={() => steps !== undefined && save.mutate({ path: { workflow_id: workflow.id }, body: { steps } })}
          >
            {save.isPending ? text.saving : text.save}
          </Button>
        </div>
      )}
      <TestSection workflow={workflow} drafts={drafts} />
    </>
  );
}

function TestSection({ workflow, drafts }: { readonly workflow: Workflow; readonly drafts: readonly StepDraft[] }) {
  const [event, setEvent] = useState("");
  const [isInvalid, setIsInvalid] = useState(false);
  const test = useChange("testWorkflow", { invalidates: [] });
  const start = (): void => {
    const steps = stepInputs(drafts);
    if (steps === undefined) return;
    try {
      const given = event.trim() === "" ? {} : { event: JSON.parse(event) as unknown };
      setIsInvalid(false);
      test.mutate({ path: { workflow_id: workflow.id }, body: { steps, ...given } });
    } catch {
      setIsInvalid(true);
    }
  };
  return (
    <Section
      title={text.test}
      actions={
        <Button disabled={test.isPending} onClick={start}>
          {test.isPending ? text.testing : text.test}
        </Button>
      }
    >
      <p className="text-sm text-muted">{text.testHint}</p>
      <TextArea
        label={text.testEvent}
        hint={text.testEventHint}
        error={isInvalid ? text.invalidJson : undefined}
        value={event}
        onChange={(change) => setEvent(change.target.value)}
      />
      {test.error !== null && <ErrorNotice title={text.testFailed} error={test.error} />}
      {test.data !== undefined && <TestResult test={test.data.data} />}
    </Section>
  );
}
