import type { Member } from "../../../client/generated/operations.ts";
import { useChange, useRead } from "../../api/queries.ts";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { DeleteButton } from "../../parts/delete-button.tsx";
import { inputLook } from "../../parts/field.tsx";
import { Loaded } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { OpenInvitations, roles } from "./invitations.tsx";
import { text } from "./strings.ts";

type Role = Member["role"];

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
      <OpenInvitations organization={organization} />
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
