import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { useChange, useList } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { exampleStep, text } from "./strings.ts";

/** Of the list of sources; another one can be typed. */
const maxOffered = 100;

/** The fields of a trigger as they are typed. */
const newTrigger = { kind: "http", source: "", cron: "0 * * * *", timezone: "UTC", overlap: "allow" };
type TriggerFields = typeof newTrigger;

const overlaps = ["allow", "skip", "queue", "cancel"] as const;

function triggersOf({ kind, source, cron, timezone, overlap }: TriggerFields) {
  switch (kind) {
    case "timer": {
      const chosen = overlaps.find((each) => each === overlap);
      return [{ type: "timer", cron, timezone, ...(chosen === undefined || chosen === "allow" ? {} : { overlap: chosen }) } as const];
    }
    case "source":
      return [{ type: "source", source_id: source } as const];
    case "none":
      return [];
    default:
      return [{ type: kind === "email" ? "email" : "http" } as const];
  }
}

export function NewWorkflow({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [trigger, setTrigger] = useState(newTrigger);
  const query = useOwnerQuery();
  const navigate = useNavigate();
  const create = useChange("createWorkflow", {
    invalidates: ["listMyWorkflows"],
    onDone: ({ data }) => void navigate({ to: "/workflows/$id", params: { id: data.id } as never }), // Cannot fail.
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ query, body: { name, triggers: triggersOf(trigger), steps: [{ name: "first", component_code: exampleStep }] } });
  };
  return (
    <Dialog title={text.create} isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField label={text.name} required maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
        <SelectField
          label={text.trigger}
          value={trigger.kind}
          options={Object.entries(text.triggerKinds)}
          onChange={(event) => setTrigger({ ...trigger, kind: event.target.value })}
        />
        {trigger.kind === "timer" && <TimerFields trigger={trigger} onChange={setTrigger} />}
        {trigger.kind === "source" && <SourceField trigger={trigger} onChange={setTrigger} />}
        {create.error !== null && <ErrorNotice title={text.createFailed} error={create.error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={create.isPending}>
          {text.createAction}
        </Button>
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly trigger: TriggerFields;
  readonly onChange: (trigger: TriggerFields) => void;
}

function TimerFields({ trigger, onChange }: FieldsProps) {
  const change = (field: keyof TriggerFields) => (event: { readonly target: { readonly value: string } }) =>
    onChange({ ...trigger, [field]: event.target.value });
  return (
    <>
      <TextField label={text.cron} hint={text.cronHint} required value={trigger.cron} onChange={change("cron")} />
      <TextField label={text.timezone} required value={trigger.timezone} onChange={change("timezone")} />
      <SelectField label={text.overlap} value={trigger.overlap} options={Object.entries(text.overlaps)} onChange={change("overlap")} />
    </>
  );
}

function SourceField({ trigger, onChange }: FieldsProps) {
  const sources = useList("listMySources", { query: useOwnerQuery() }, { pageItems: maxOffered });
  return (
    <>
      <TextField
        label={text.source}
        hint={text.sourceHint}
        required
        list="sources-of-triggers"
        value={trigger.source}
        onChange={(event) => onChange({ ...trigger, source: event.target.value })}
      />
      <datalist id="sources-of-triggers">
        {sources.items.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  );
}
