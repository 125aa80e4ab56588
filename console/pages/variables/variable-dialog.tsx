import { useState, type FormEvent } from "react";
import type { Variable } from "../../../client/generated/operations.ts";
import { useChange } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextArea, TextField } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { text } from "./strings.ts";

/** @param variable undefined: a new one */
export function VariableDialog({ variable, onClose }: { readonly variable: Variable | undefined; readonly onClose: () => void }) {
  const [name, setName] = useState(variable?.name ?? "");
  const [value, setValue] = useState(variable?.value ?? "");
  const [isSecret, setIsSecret] = useState(variable?.secret ?? false);
  const query = useOwnerQuery();
  const set = useChange("setVariable", {
    invalidates: ["listVariables"],
    onDone: () => {
      showToast(text.saved(name));
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    set.mutate({ path: { name }, query, body: { value, secret: isSecret } });
  };
  return (
    <Dialog title={variable?.name ?? text.create} isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {variable === undefined && (
          <TextField
            label={text.name}
            hint={text.nameHint}
            required
            maxLength={128}
            pattern="[A-Za-z_][A-Za-z0-9_]*"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
        <TextArea label={text.value} maxLength={16_384} value={value} onChange={(event) => setValue(event.target.value)} />
        <label className="flex items-start gap-2 text-sm">
          <input type="checkbox" checked={isSecret} onChange={(event) => setIsSecret(event.target.checked)} />
          <span>
            {text.secret}
            <span className="block text-xs text-muted">{text.secretHint}</span>
          </span>
        </label>
        {set.error !== null && <ErrorNotice title={text.failed} error={set.error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={set.isPending}>
          {text.save}
        </Button>
      </form>
    </Dialog>
  );
}
