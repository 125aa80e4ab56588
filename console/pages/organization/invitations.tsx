import { useState, type FormEvent } from "react";
import type { Invitation, Member } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { text } from "./strings.ts";

type Role = Member["role"];
export const roles = Object.keys(text.roles) as readonly Role[];

const nameOf = ({ user_id: id, username, email }: Invitation): string => id ?? username ?? email ?? "";

/** Invitations to the user, if there are any. */
export function MyInvitations() {
  const { data } = useRead("listMyInvitations", {});
  const invitations = data?.data ?? [];
  if (invitations.length === 0) return null;
  return (
    <Section title={text.invitations}>
      <ul className="flex flex-col gap-2">
        {invitations.map((invitation) => (
          <MyInvitation key={invitation.id} invitation={invitation} />
        ))}
      </ul>
    </Section>
  );
}

function MyInvitation({ invitation: { id, org_name: name, role } }: { readonly invitation: Invitation }) {
  const options = { invalidates: ["listMyInvitations", "getMe"] } as const;
  const accept = useChange("acceptInvitation", { ...options, onDone: () => showToast(text.accepted(name)) });
  const decline = useChange("declineInvitation", { ...options, onDone: () => showToast(text.declined(name)) });
  const onError = (error: Error): void => showFailure(text.invitationFailed, error);
  return (
    <li className="flex min-w-0 flex-wrap items-center gap-3 text-sm">
      <bdi className="min-w-0 flex-1 basis-32 font-medium">{text.invitedAs(name, text.roles[role])}</bdi>
      <Button
        kind="primary"
        aria-label={`${text.accept}: ${name}`}
        disabled={accept.isPending}
        onClick={() => accept.mutate({ path: { id } }, { onError })}
      >
        {text.accept}
      </Button>
      <Button
        aria-label={`${text.decline}: ${name}`}
        disabled={decline.isPending}
        onClick={() => decline.mutate({ path: { id } }, { onError })}
      >
        {text.decline}
      </Button>
    </li>
  );
}

/** Open invitations of an organization, and a form for another. Only admins may list them: others see none. */
export function OpenInvitations({ organization }: { readonly organization: string }) {
  const { data } = useRead("listInvitations", { path: { org_id: organization } });
  const withdraw = useChange("withdrawInvitation", { invalidates: ["listInvitations"] });
  return (
    <>
      <ul aria-label={text.invitations} className="flex flex-col gap-2">
        {(data?.data ?? []).map((invitation) => (
          <li key={invitation.id} className="flex min-w-0 flex-wrap items-center gap-3 text-sm">
            <bdi className="min-w-0 flex-1 basis-32 text-muted">{text.invitedAs(nameOf(invitation), text.roles[invitation.role])}</bdi>
            <Button
              aria-label={`${text.withdraw}: ${nameOf(invitation)}`}
              onClick={() =>
                withdraw.mutate(
                  { path: { org_id: organization, invitation_id: invitation.id } },
                  {
                    onSuccess: () => showToast(text.withdrawn(nameOf(invitation))),
                    onError: (error) => showFailure(text.invitationFailed, error),
                  },
                )
              }
            >
              {text.withdraw}
            </Button>
          </li>
        ))}
      </ul>
      <Invite organization={organization} />
    </>
  );
}

/** The user as the API takes it: by id, e-mail address or username. */
const userOf = (typed: string): { readonly user_id: string } | { readonly email: string } | { readonly username: string } =>
  typed.startsWith("u_") ? { user_id: typed } : typed.includes("@") ? { email: typed } : { username: typed };

function Invite({ organization }: { readonly organization: string }) {
  const [typed, setTyped] = useState("");
  const [role, setRole] = useState<Role>("member");
  const invite = useChange("inviteMember", {
    invalidates: ["listInvitations"],
    onDone: ({ data }) => {
      showToast(text.invited(nameOf(data)));
      setTyped("");
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    invite.mutate({ path: { org_id: organization }, body: { ...userOf(typed.trim()), role } });
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
      <Button type="submit" disabled={invite.isPending}>
        {text.inviteAction}
      </Button>
      {invite.error !== null && <ErrorNotice title={text.inviteFailed} error={invite.error} />}
    </form>
  );
}
