import { useState, type FormEvent } from "react";
import { useChange, useList } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { text } from "./strings.ts";

/** Names that are offered while typing. */
const maxOffered = 50;

/** Subscribes a listener to an emitter; with a listener given, the form asks for the emitter only. */
export function SubscribeForm({ listener: fixed }: { readonly listener?: string }) {
  const [emitter, setEmitter] = useState("");
  const [typedListener, setTypedListener] = useState("");
  const [channel, setChannel] = useState("");
  const query = useOwnerQuery();
  const sources = useList("listMySources", { query }, { pageItems: maxOffered });
  const webhooks = useList("listMyWebhooks", { query }, { pageItems: maxOffered, enabled: fixed === undefined });
  const subscribe = useChange("subscribe", {
    invalidates: ["listMySubscriptions"],
    onDone: () => {
      showToast(text.subscribed);
      setEmitter("");
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body = { emitter_id: emitter.trim(), listener_id: fixed ?? typedListener.trim(), event_name: channel.trim() };
    subscribe.mutate({ query, body });
  };
  return (
    <form onSubmit={submit} className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,14rem),1fr))] items-start gap-3">
      <TextField
        label={text.emitterLabel}
        hint={text.emitterHint}
        required
        list="known-emitters"
        value={emitter}
        onChange={(event) => setEmitter(event.target.value)}
      />
      <datalist id="known-emitters">
        {sources.items.map(({ id, name }) => (
          <option key={id} value={id} label={name} />
        ))}
      </datalist>
      {fixed === undefined && (
        <>
          <TextField
            label={text.listenerLabel}
            hint={text.listenerHint}
            required
            list="known-listeners"
            value={typedListener}
            onChange={(event) => setTypedListener(event.target.value)}
          />
          <datalist id="known-listeners">
            {[...webhooks.items, ...sources.items].map(({ id, name }) => (
              <option key={id} value={id} label={name ?? id} />
            ))}
          </datalist>
        </>
      )}
      <TextField label={text.channelLabel} hint={text.channelHint} value={channel} onChange={(event) => setChannel(event.target.value)} />
      <Button type="submit" kind="primary" className="self-center justify-self-start" disabled={subscribe.isPending}>
        {text.subscribe}
      </Button>
      {subscribe.error !== null && <ErrorNotice title={text.subscribeFailed} error={subscribe.error} />}
    </form>
  );
}
