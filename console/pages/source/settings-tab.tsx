import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { ApiError } from "../../../client/errors.ts";
import type { Prop, Source } from "../../../client/generated/operations.ts";
import { readOptions, readProps, useAccounts, useComponent } from "../../api/component-props.ts";
import { useChange } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { ConfirmByName } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { ErrorNotice, Loading } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { fieldErrorsOf } from "../../parts/problems.ts";
import { propDefinitions } from "../../api/prop-definition.ts";
import { PropsForm, type PropValues } from "../../parts/props-form.tsx";
import { text } from "./strings.ts";

export function SettingsTab({ source }: { readonly source: Source }) {
  const component = useComponent(source.component_id);
  const props = source.configurable_props ?? component.data?.configurable_props;
  return (
    <>
      {component.isLoading ? <Loading /> : <SettingsForm source={source} props={props ?? []} />}
      <DeleteSection source={source} />
    </>
  );
}

/** What the API shows of an endpoint is no value that it accepts. */
const valuesOf = ({ configured_props: values }: Source): PropValues =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => {
      if (typeof value !== "object" || value === null) return true;
      return !("endpoint_url" in value) && !("type" in value && value.type === "$.service.db");
    }),
  );

function SettingsForm({ source, props }: { readonly source: Source; readonly props: readonly Prop[] }) {
  const [name, setName] = useState(source.name);
  const [values, setValues] = useState<PropValues>(() => valuesOf(source));
  const [additional, setAdditional] = useState<readonly Prop[]>();
  const accounts = useAccounts(useOwnerQuery());
  const update = useChange("updateSource", { onDone: () => showToast(text.saved) });
  const owner = { source: source.id };
  const shown = additional ?? props;
  // The API returns no secret value, so every required one has been stored.
  const storedSecrets = new Set(propDefinitions(shown).flatMap((prop) => (prop.isSecret ? [prop.name] : [])));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    update.mutate({ path: { id: source.id }, body: { name, configured_props: values } });
  };
  const reload = (next: PropValues): void => {
    readProps(owner, next).then(setAdditional, (error: Error) => showFailure(text.saveFailed, error));
  };
  return (
    <Section title={text.tabs.settings}>
      <form onSubmit={submit} className="flex max-w-2xl flex-col gap-4">
        <TextField label={text.name} required maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
        <PropsForm
          props={shown}
          values={values}
          onChange={setValues}
          onReload={reload}
          errors={fieldErrorsOf(update.error)}
          readOptions={(request) => readOptions(owner, values, request)}
          accounts={accounts}
          storedSecrets={storedSecrets}
        />
        {update.error !== null && <ErrorNotice title={text.saveFailed} error={update.error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={update.isPending}>
          {update.isPending ? text.saving : text.save}
        </Button>
      </form>
    </Section>
  );
}

function DeleteSection({ source }: { readonly source: Source }) {
  const [isOpen, setIsOpen] = useState(false);
  const navigate = useNavigate();
  const remove = useChange("deleteSource", {
    invalidates: ["listMySources"],
    onDone: () => {
      showToast(text.deleted(source.name));
      void navigate({ to: "/sources" }); // Cannot fail.
    },
  });
  const isInUse = remove.error instanceof ApiError && remove.error.code === "source_in_use";
  return (
    <Section title={text.danger}>
      <p className="text-sm text-muted">{text.deleteText}</p>
      <Button kind="danger" className="self-start" onClick={() => setIsOpen(true)}>
        {text.delete}
      </Button>
      <ConfirmByName
        title={text.delete}
        name={source.name}
        action={isInUse ? text.deleteWithTriggers : text.danger}
        isOpen={isOpen}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ path: { id: source.id }, query: isInUse ? { force: true } : {} })}
        onClose={() => setIsOpen(false)}
      >
        {text.deleteText}
      </ConfirmByName>
    </Section>
  );
}
