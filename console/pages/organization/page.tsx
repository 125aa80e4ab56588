import { useState, type FormEvent } from "react";
import type { Organization } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { useSearchParams } from "../../parts/search.ts";
import { showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { ConfirmEmail, showLinkSent } from "../../parts/confirm-email.tsx";
import { Id } from "../../parts/copy-button.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { EmptyState, ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Facts, Page, Section } from "../../parts/page.tsx";
import { UsageFacts } from "../../parts/usage-facts.tsx";
import { Changes } from "./changes.tsx";
import { MyInvitations } from "./invitations.tsx";
import { Members } from "./members.tsx";
import { text } from "./strings.ts";

/** The organization of the address, or the list of the user's organizations. */
export function OrganizationPage() {
  const [{ org }, setSearch] = useSearchParams();
  const [isOpen, setIsOpen] = useState(false);
  const me = useRead("getMe", {});
  const organizations = me.data?.data.orgs ?? [];
  const chosen = organizations.find(({ id }) => id === org);
  return (
    <Page title={chosen?.name ?? text.title} actions={<Button onClick={() => setIsOpen(true)}>{text.create}</Button>}>
      <Loaded isLoading={me.isPending} error={me.error} retry={() => void me.refetch()}>
        <MyInvitations />
        {chosen !== undefined ? (
          <Chosen organization={chosen} />
        ) : organizations.length === 0 ? (
          <EmptyState title={text.none}>
            <p className="text-sm text-muted">{text.noneHint}</p>
          </EmptyState>
        ) : (
          <Section title={text.organizations}>
            <ul className="flex flex-col gap-2">
              {organizations.map(({ id, name }) => (
                <li key={id} className="flex min-w-0 flex-wrap items-center gap-3 text-sm">
                  <bdi className="min-w-0 flex-1 font-medium">{name}</bdi>
                  <Button aria-label={`${text.show}: ${name}`} onClick={() => setSearch({ org: id })}>
                    {text.show}
                  </Button>
                </li>
              ))}
            </ul>
          </Section>
        )}
        <Changes />
      </Loaded>
      {isOpen && <NewOrganization onClose={() => setIsOpen(false)} onCreated={(id) => setSearch({ org: id })} />}
    </Page>
  );
}

function Chosen({ organization }: { readonly organization: Organization }) {
  const [, setSearch] = useSearchParams();
  const { id, name, orgname, email, email_confirmed: isConfirmed } = organization;
  const confirm = useChange("confirmOrganizationEmail", { invalidates: ["getMe"], onDone: ({ data }) => showLinkSent(data) });
  const usage = useRead("getUsage", { path: { org_id: id } });
  const remove = useChange("deleteOrganization", {
    onDone: () => {
      showToast(text.deleted(name));
      setSearch({ org: undefined });
    },
  });
  return (
    <>
      <Facts
        facts={[
          ["Id", <Id key="id" id={id} />],
          [text.orgname, <bdi key="name">{orgname}</bdi>],
          ["E-mail", <bdi key="mail">{email}</bdi>],
        ]}
      />
      {!isConfirmed && (
        <ConfirmEmail
          email={email}
          isPending={confirm.isPending}
          error={confirm.error}
          onRequest={() => confirm.mutate({ path: { org_id: id } })}
        />
      )}
      <Members organization={id} />
      <Section title={text.usage}>
        <Loaded isLoading={usage.isPending} error={usage.error} retry={() => void usage.refetch()}>
          {usage.data !== undefined && <UsageFacts usage={usage.data.data} />}
        </Loaded>
      </Section>
      <Section title={text.deleteAction}>
        <p className="text-sm text-muted">{text.deleteText}</p>
        <div>
          <DeleteButton
            label={text.delete}
            name={name}
            action={text.deleteAction}
            isPending={remove.isPending}
            error={remove.error}
            onConfirm={() => remove.mutate({ path: { org_id: id } })}
          >
            {text.deleteText}
          </DeleteButton>
        </div>
      </Section>
    </>
  );
}

function NewOrganization({ onClose, onCreated }: { readonly onClose: () => void; readonly onCreated: (id: string) => void }) {
  const [name, setName] = useState("");
  const [orgname, setOrgname] = useState("");
  const create = useChange("createOrganization", {
    onDone: ({ data }) => {
      showToast(text.created(data.name));
      onClose();
      onCreated(data.id);
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ body: { name, ...(orgname === "" ? {} : { orgname }) } });
  };
  return (
    <Dialog title={text.create} isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField label={text.name} required maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
        <TextField label={text.orgname} hint={text.orgnameHint} value={orgname} onChange={(event) => setOrgname(event.target.value)} />
        {create.error !== null && <ErrorNotice title={text.createFailed} error={create.error} />}
        <Button kind="primary" type="submit" className="self-start" disabled={create.isPending}>
          {text.createAction}
        </Button>
      </form>
    </Dialog>
  );
}
