import { useState, type FormEvent } from "react";
import type { Member } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { showFailure, showToast } from "../../app/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { inputLook, SelectField, TextField } from "../../parts/field.tsx";
import { ErrorNotice, Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { text } from "./strings.ts";

type Role = Member["role"];
const roles = Object.keys(text.roles) as readonly Role[];

export function Members({ organization }: { readonly organization: string }) {
  const members = useRead("listMembers", { path: { org_id: organization } });
  return (
    <Section title={text.members}>
      <Loaded isLoading={members.isPending} error={members.error} retry={() => void members.refetch()}>
        <ul className="flex flex-col gap-2">
          {members.data?.data.map((member) => (
            <MemberRow key={member.user_id} organization={organization} member={member} />
          ))}
        </ul>
      </Loaded>
      <AddMember organization={organization} />
    </Section>
  );
}

function MemberRow({ organization, member }: { readonly organization: string; readonly member: Member }) {
  const { user_id: user, username, role } = member;
  const path = { org_id: organization, user_id: user };
  const change = useChange("putMember", { invalidates: ["listMembers"] });
  const remove = useChange("removeMember", { onDone: () => showToast(text.removed(username)) });
  const choose = (next: Role): void => {
    change.mutate(
      { path, body: { role: next } },
      {
        onSuccess: () => showToast(text.roleChanged(username, text.roles[next]), () => choose(role)),
        onError: (error) => showFailure(text.roleFailed, error),
      },
    );
  };
  return (
    <li className="flex min-w-0 flex-wrap items-center gap-3 text-sm">
      <bdi className="min-w-0 flex-1 basis-32 font-medium">{username}</bdi>
      <select
        aria-label={`${text.role}: ${username}`}
        value={role}
        className={`${inputLook} max-w-32`}
        onChange={(event) => choose(roles.find((each) => each === event.target.value) ?? role)}
      >
        {roles.map((each) => (
          <option key={each} value={each}>
            {text.roles[each]}
          </option>
        ))}
      </select>
      <DeleteButton
        label={text.remove}
        name={username}
        action={text.remove}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ path })}
      >
        {text.removeText}
      </DeleteButton>
    </li>
  );
}

/** The user as the API takes it: by id, e-mail address or username. */
const userOf = (typed: string): { readonly user_id: string } | { readonly email: string } | { readonly username: string } =>
  typed.startsWith("u_") ? { user_id: typed } : typed.includes("@") ? { email: typed } : { username: typed };

function AddMember({ organization }: { readonly organization: string }) {
  const [typed, setTyped] = useState("");
  const [role, setRole] = useState<Role>("member");
  const add = useChange("addMember", {
    invalidates: ["listMembers"],
    onDone: ({ data }) => {
      showToast(text.added(data.username));
      setTyped("");
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    add.mutate({ path: { org_id: organization }, body: { ...userOf(typed.trim()), role } });
  };
  return (
    <form onSubmit={submit} className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,12rem),1fr))] items-end gap-3">
      <TextField label={text.member} required value={typed} onChange={(event) => setTyped(event.target.value)} />
      <SelectField
        label={text.role}
        value={role}
        options={roles.map((each) => [each, text.roles[each]])}
        onChange={(event) => setRole(roles.find((each) => each === event.target.value) ?? "member")}
      />
      <Button type="submit" disabled={add.isPending}>
        {text.addAction}
      </Button>
      {add.error !== null && <ErrorNotice title={text.addFailed} error={add.error} />}
    </form>
  );
}
