import { useState, type FormEvent } from "react";
import type { AdminUser } from "../../../client/generated/operations.ts";
import { useAdminChange, useAdminRead } from "../../api/admin.ts";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { Id } from "../../parts/copy-button.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { SecretOnce } from "../../parts/secret-once.tsx";
import { PlanSelect } from "./plan-select.tsx";
import { text } from "./strings.ts";

export function UsersTab() {
  const users = useAdminRead("adminListUsers", { query: { limit: 100 } });
  return (
    <>
      <Section title={text.tabs.users}>
        <Loaded isLoading={users.isPending} error={users.error} retry={() => void users.refetch()}>
          <ul className="flex flex-col gap-3">
            {users.data?.data.map((user) => (
              <UserRow key={user.id} user={user} />
            ))}
          </ul>
        </Loaded>
      </Section>
      <Section title={text.newUser}>
        <NewUser />
      </Section>
    </>
  );
}

function UserRow({ user }: { readonly user: AdminUser }) {
  const [key, setKey] = useState<string>();
  const path = { id: user.id };
  const onError = (error: Error): void => showFailure(text.changeFailed, error);
  const choose = useAdminChange("adminChooseUserPlan");
  const create = useAdminChange("adminCreateKey", ({ data }) => setKey(data.key));
  const remove = useAdminChange("adminDeleteUser", () => showToast(text.deleted(user.username)));
  return (
    <li className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line pb-3 text-sm">
      <span className="flex min-w-0 flex-1 basis-48 flex-col">
        <bdi className="font-medium">{user.username}</bdi>
        <bdi className="text-muted">{user.email}</bdi>
        <Id id={user.id} />
      </span>
      <PlanSelect
        owner={user.username}
        plan={user.plan}
        onChoose={(plan) =>
          choose.mutate({ path, body: { plan } }, { onSuccess: () => showToast(text.planChanged(user.username, plan)), onError })
        }
      />
      <Button disabled={create.isPending} onClick={() => create.mutate({ path, body: { name: text.keyName } }, { onError })}>
        {text.newKey}
      </Button>
      <DeleteButton
        label={text.delete}
        name={user.username}
        action={text.delete}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ path })}
      >
        {text.deleteUser}
      </DeleteButton>
      {key !== undefined && (
        <Dialog title={text.newKeyOf(user.username)} isOpen onClose={() => setKey(undefined)}>
          <SecretOnce note={text.keyNote} label={text.newKey} secret={key} />
        </Dialog>
      )}
    </li>
  );
}

function NewUser() {
  const [username, setUsername] = useState("");
  const [email, setEmail] = useState("");
  const create = useAdminChange("adminCreateUser", ({ data }) => {
    showToast(text.done(data.username));
    setUsername("");
    setEmail("");
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ body: { username, email } });
  };
  return (
    <form onSubmit={submit} className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,12rem),1fr))] items-end gap-3">
      <TextField label={text.username} required value={username} onChange={(event) => setUsername(event.target.value)} />
      <TextField label={text.email} type="email" required value={email} onChange={(event) => setEmail(event.target.value)} />
      <Button type="submit" disabled={create.isPending}>
        {text.create}
      </Button>
      {create.error !== null && <ErrorNotice title={text.createFailed} error={create.error} />}
    </form>
  );
}
