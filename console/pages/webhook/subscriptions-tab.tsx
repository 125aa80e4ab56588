import type { Webhook } from "../../../client/generated/operations.ts";
import { SubscriptionList } from "../subscriptions/subscription-list.tsx";
import { SubscribeForm } from "../subscriptions/subscribe-form.tsx";
import { Section } from "../../parts/page.tsx";
import { text } from "./strings.ts";

/** What feeds the webhook, to add and remove. */
export function SubscriptionsTab({ webhook }: { readonly webhook: Webhook }) {
  return (
    <>
      <SubscriptionList listener={webhook.id} empty={text.noSubscriptions} emptyHint={text.noSubscriptionsHint} />
      <Section title={text.subscribe}>
        <SubscribeForm listener={webhook.id} />
      </Section>
    </>
  );
}
