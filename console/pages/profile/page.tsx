import { useChange, useRead } from "../../api/queries.ts";
import { useSession } from "../../parts/session-context.tsx";
import { showFailure, showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { Id } from "../../parts/copy-button.tsx";
import { ConfirmEmail, showLinkSent } from "../../parts/confirm-email.tsx";
import { Loaded } from "../../parts/notices.tsx";
import { Facts, Page, Section } from "../../parts/page.tsx";
import { UsageFacts } from "../../parts/usage-facts.tsx";
import { Keys } from "./keys.tsx";
import { text } from "./strings.ts";

export function ProfilePage() {
  const { user } = useSession();
  const usage = useRead("getMyUsage", {});
  return (
    <Page title={text.title}>
      <Section title={text.user}>
        <Facts
          facts={[
            [text.username, <bdi key="name">{user.username}</bdi>],
            [text.email, <bdi key="email">{user.email}</bdi>],
            ["Id", <Id key="id" id={user.id} />],
          ]}
        />
        <Confirmation />
        <ErrorMails />
      </Section>
      <Section title={text.usage}>
        <Loaded isLoading={usage.isPending} error={usage.error} retry={() => void usage.refetch()}>
          {usage.data !== undefined && <UsageFacts usage={usage.data.data} />}
        </Loaded>
      </Section>
      <Keys />
    </Page>
  );
}

function Confirmation() {
  const me = useRead("getMe", {});
  const request = useChange("confirmMyEmail", { invalidates: ["getMe"], onDone: ({ data }) => showLinkSent(data) });
  if (me.data?.data.email_confirmed !== false) return null;
  const { email } = me.data.data;
  return <ConfirmEmail email={email} isPending={request.isPending} error={request.error} onRequest={() => request.mutate({})} />;
}

/** The API takes the setting, and does not show it. */
function ErrorMails() {
  const update = useChange("updateMe", {
    invalidates: [],
    onDone: ({ data }) => showToast(data.error_mails ? text.mailsOn : text.mailsOff),
  });
  const choose = (wanted: boolean): void =>
    update.mutate({ body: { error_mails: wanted } }, { onError: (error) => showFailure(text.saveFailed, error) });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span className="text-sm">{text.errorMails}</span>
      <Button disabled={update.isPending} onClick={() => choose(true)}>
        {text.turnOn}
      </Button>
      <Button disabled={update.isPending} onClick={() => choose(false)}>
        {text.turnOff}
      </Button>
    </div>
  );
}
