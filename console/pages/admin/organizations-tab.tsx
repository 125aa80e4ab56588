import { useState, type FormEvent } from "react";
import type { AdminOrganization } from "../../../client/generated/operations.ts";
import { useAdminChange, useAdminRead } from "../../api/admin.ts";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { Id } from "../../parts/copy-button.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { TextField } from "../../parts/field.tsx";
import { ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { PlanSelect } from "./plan-select.tsx";
import { text } from "./strings.ts";

export function OrganizationsTab() {
  const organizations = useAdminRead("adminListOrganizations", { query: { limit: 100 } });
  return (
    <>
      <Section title={text.tabs.organizations}>
        <Loaded isLoading={organizations.isPending} error={organizations.error} retry={() => void organizations.refetch()}>
          <ul className="flex flex-col gap-3">
            {organizations.data?.data.map((organization) => (
              <OrganizationRow key={organization.id} organization={organization} />
            ))}
          </ul>
        </Loaded>
      </Section>
      <Section title={text.newOrganization}>
        <NewOrganization />
      </Section>
    </>
  );
}

function OrganizationRow({ organization }: { readonly organization: AdminOrganization }) {
  const { id, name, orgname, plan } = organization;
  const path = { id };
  const choose = useAdminChange("adminChooseOrganizationPlan");
  const remove = useAdminChange("adminDeleteOrganization", () => showToast(text.deleted(name)));
  const choosePlan = (next: string): void =>
    choose.mutate(
      { path, body: { plan: next } },
      { onSuccess: () => showToast(text.planChanged(name, next)), onError: (error) => showFailure(text.changeFailed, error) },
    );
  return (
    <li className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line pb-3 text-sm">
      <span className="flex min-w-0 flex-1 basis-48 flex-col">
        <bdi className="font-medium">{name}</bdi>
        <bdi className="text-muted">{orgname}</bdi>
        <Id id={id} />
      </span>
      <PlanSelect owner={name} plan={plan} onChoose={choosePlan} />
      <DeleteButton
        label={text.delete}
        name={name}
        action={text.delete}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ path })}
      >
        {text.deleteOrganization}
      </DeleteButton>
    </li>
  );
}

function NewOrganization() {
  const [name, setName] = useState("");
  const [orgname, setOrgname] = useState("");
  const [email, setEmail] = useState("");
  const create = useAdminChange("adminCreateOrganization", ({ data }) => {
    showToast(text.done(data.name));
    setName("");
    setOrgname("");
    setEmail("");
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ body: { name, orgname, email } });
  };
  return (
    <form onSubmit={submit} className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,12rem),1fr))] items-end gap-3">
      <TextField label={text.name} required value={name} onChange={(event) => setName(event.target.value)} />
      <TextField label={text.username} required value={orgname} onChange={(event) => setOrgname(event.target.value)} />
      <TextField label={text.email} type="email" required value={email} onChange={(event) => setEmail(event.target.value)} />
      <Button type="submit" disabled={create.isPending}>
        {text.create}
      </Button>
      {create.error !== null && <ErrorNotice title={text.createFailed} error={create.error} />}
    </form>
  );
}
