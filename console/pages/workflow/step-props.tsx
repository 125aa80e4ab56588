import { useState } from "react";
import type { Prop } from "../../../client/generated/operations.ts";
import { readOptions, readProps, useAccounts, useComponent } from "../../api/component-props.ts";
import { PropsForm, type PropValues } from "../../parts/props-form.tsx";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showFailure } from "../../parts/toasts.tsx";
import { propsOf, type StepDraft } from "./steps-draft.ts";
import { text } from "./strings.ts";

interface StepPropsProps {
  readonly draft: StepDraft;
  readonly onChange: (draft: StepDraft) => void;
}

/** The props of a step's action as a form, with its accounts and options. Expressions are written in the JSON beside it. */
export function StepProps({ draft, onChange }: StepPropsProps) {
  const key = draft.componentKey === "" ? draft.componentId : draft.componentKey;
  const component = useComponent(key);
  const [additional, setAdditional] = useState<readonly Prop[]>();
  const accounts = useAccounts(useOwnerQuery());
  const props = additional ?? component.data?.configurable_props ?? [];
  const values = propsOf(draft);
  if (key === undefined || values === undefined || props.length === 0) return null;
  const owner = { component: key };
  const change = (next: PropValues): void =>
    onChange({ ...draft, props: Object.keys(next).length === 0 ? "" : JSON.stringify(next, null, 2) });
  return (
    <details open={draft.id === undefined}>
      <summary className="text-sm font-medium">{text.form}</summary>
      <div className="mt-3">
        <PropsForm
          props={props}
          values={values}
          onChange={change}
          onReload={(next) => {
            readProps(owner, next).then(setAdditional, (error: Error) => showFailure(text.optionsFailed, error));
          }}
          errors={{}}
          readOptions={(request) => readOptions(owner, values, request)}
          accounts={accounts}
        />
      </div>
    </details>
  );
}
