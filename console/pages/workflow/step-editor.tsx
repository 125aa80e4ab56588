import { useState } from "react";
import { useComponent } from "../../api/component-props.ts";
import { Button } from "../../parts/button.tsx";
import { CodeEditor } from "../../parts/code-editor.tsx";
import { Checkbox, TextArea, TextField } from "../../parts/field.tsx";
import { Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { StepProps } from "./step-props.tsx";
import { controlOf, propsOf, type StepDraft } from "./steps-draft.ts";
import { text } from "./strings.ts";

interface StepEditorProps {
  readonly number: number;
  readonly draft: StepDraft;
  readonly onChange: (draft: StepDraft) => void;
  readonly onMove: (by: 1 | -1) => void;
  readonly onRemove: () => void;
}

export function StepEditor({ number, draft, onChange, onMove, onRemove }: StepEditorProps) {
  const title = text.step(number, draft.name);
  return (
    <Section
      title={title}
      actions={
        <>
          <Button kind="quiet" aria-label={`${text.up}: ${title}`} onClick={() => onMove(-1)}>
            {text.up}
          </Button>
          <Button kind="quiet" aria-label={`${text.down}: ${title}`} onClick={() => onMove(1)}>
            {text.down}
          </Button>
          <Button kind="quiet" aria-label={`${text.remove}: ${title}`} onClick={onRemove}>
            {text.remove}
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,12rem),1fr))] gap-3">
        <TextField
          label={text.stepName}
          hint={text.stepNameHint}
          required
          value={draft.name}
          onChange={(event) => onChange({ ...draft, name: event.target.value })}
        />
        {draft.control === undefined && (
          <TextField
            label={text.component}
            hint={text.componentHint}
            value={draft.componentKey}
            onChange={(event) => onChange({ ...draft, componentKey: event.target.value.trim() })}
          />
        )}
        <TextField
          label={text.retries}
          type="number"
          min={0}
          value={draft.retries}
          onChange={(event) => onChange({ ...draft, retries: event.target.value })}
        />
        <TextField
          label={text.timeout}
          type="number"
          min={1}
          value={draft.timeoutMs}
          onChange={(event) => onChange({ ...draft, timeoutMs: event.target.value })}
        />
      </div>
      <Checkbox
        label={text.continueOnError}
        checked={draft.continuesOnError}
        onChange={(event) => onChange({ ...draft, continuesOnError: event.target.checked })}
      />
      {draft.control === undefined ? (
        <StepAction draft={draft} onChange={onChange} />
      ) : (
        <TextArea
          label={text.control}
          hint={text.controlHint}
          rows={12}
          error={controlOf(draft) === undefined ? text.invalidProps : undefined}
          value={draft.control}
          onChange={(event) => onChange({ ...draft, control: event.target.value })}
        />
      )}
    </Section>
  );
}

function StepAction({ draft, onChange }: Pick<StepEditorProps, "draft" | "onChange">) {
  return (
    <>
      <StepProps draft={draft} onChange={onChange} />
      <TextArea
        label={text.props}
        hint={text.propsHint}
        error={propsOf(draft) === undefined ? text.invalidProps : undefined}
        value={draft.props}
        onChange={(event) => onChange({ ...draft, props: event.target.value })}
      />
      {draft.componentKey === "" && <StepCode draft={draft} onChange={onChange} />}
    </>
  );
}

/** The code of a step, which is loaded when it is shown. */
function StepCode({ draft, onChange }: Pick<StepEditorProps, "draft" | "onChange">) {
  const [isShown, setIsShown] = useState(draft.code !== undefined);
  const component = useComponent(isShown && draft.code === undefined ? draft.componentId : undefined);
  if (!isShown)
    return (
      <Button className="self-start" onClick={() => setIsShown(true)}>
        {text.showCode}
      </Button>
    );
  const code = draft.code ?? component.data?.code;
  return (
    <Loaded isLoading={code === undefined && component.isLoading} error={component.error}>
      <CodeEditor label={`${text.code}: ${draft.name}`} value={code ?? ""} onChange={(next) => onChange({ ...draft, code: next })} />
    </Loaded>
  );
}
