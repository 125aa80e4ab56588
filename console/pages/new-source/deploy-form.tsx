import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import type { Prop } from "../../../client/generated/operations.ts";
import type { Arguments } from "../../../client/client.ts";
import { readOptions, readProps, useAccounts, type PropsOwner } from "../../api/component-props.ts";
import { useChange } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showFailure } from "../../parts/toasts.tsx";
import { DryRunResult } from "../../parts/dry-run/result.tsx";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { fieldErrorsOf } from "../../parts/problems.ts";
import { PropsForm, type PropValues } from "../../parts/props-form.tsx";
import { text } from "./strings.ts";

interface DeployFormProps {
  /** The component, as the request names it. */
  readonly what: Pick<NonNullable<Arguments<"createSource">["body"]>, "key" | "component_id" | "component_url">;
  readonly props: readonly Prop[];
  readonly owner: PropsOwner;
  readonly onDeployed?: () => void;
}

/** Name and props of a new source, and the button that deploys it. */
export function DeployForm({ what, props, owner, onDeployed }: DeployFormProps) {
  const [name, setName] = useState("");
  const [values, setValues] = useState<PropValues>({});
  const [additional, setAdditional] = useState<readonly Prop[]>();
  const query = useOwnerQuery();
  const accounts = useAccounts(query);
  const navigate = useNavigate();
  const create = useChange("createSource", {
    invalidates: ["listMySources"],
    onDone: ({ data }) => {
      onDeployed?.();
      void navigate({ to: "/sources/$id", params: { id: data.id } as never }); // Cannot fail.
    },
  });
  const test = useChange("testSource", { invalidates: [] });
  const shown = additional ?? props;
  const error = create.error ?? test.error;
  const change = (next: PropValues): void => {
    setValues(next);
    test.reset(); // The result was for other values.
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const named = name.trim() === "" ? {} : { name: name.trim() };
    test.reset();
    create.mutate({ query, body: { ...what, ...named, configured_props: values } });
  };
  const reload = (next: PropValues): void => {
    readProps(owner, next).then(setAdditional, (error: Error) => showFailure(text.failed, error));
  };
  const runTest = (): void => {
    create.reset();
    test.mutate({ query, body: { ...what, configured_props: values } });
  };
  const result = test.data?.data;
  return (
    <form onSubmit={submit} className="flex max-w-2xl flex-col gap-4">
      <TextField label={text.name} hint={text.nameHint} value={name} maxLength={255} onChange={(event) => setName(event.target.value)} />
      <PropsForm
        props={shown}
        values={values}
        onChange={change}
        onReload={reload}
        errors={fieldErrorsOf(error)}
        readOptions={(request) => readOptions(owner, values, request)}
        accounts={accounts}
      />
      {create.error !== null && <ErrorNotice error={create.error} title={text.failed} />}
      {test.error !== null && <ErrorNotice error={test.error} title={text.testFailed} />}
      <div className="flex flex-wrap items-center gap-2">
        <Button kind="primary" type="submit" disabled={create.isPending}>
          {create.isPending ? text.deploying : text.deploy}
        </Button>
        <Button disabled={test.isPending || create.isPending} onClick={runTest}>
          {test.isPending ? text.testing : text.test}
        </Button>
        <span className="text-sm text-muted">{text.testHint}</span>
      </div>
      {result !== undefined && <DryRunResult label={text.testResult} run={result} />}
    </form>
  );
}
