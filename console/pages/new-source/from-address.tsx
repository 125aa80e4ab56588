import { useState, type FormEvent } from "react";
import { useChange } from "../../api/queries.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { ErrorNotice, WarningNotice } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { DeployForm } from "./deploy-form.tsx";
import { text } from "./strings.ts";

/** A component at an address: it is fetched and built first, and then deployed. */
export function FromAddress() {
  const [url, setUrl] = useState("");
  const query = useOwnerQuery();
  const save = useChange("saveComponent", { invalidates: [], showsWarnings: true });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate({ query, body: { component_url: url } });
  };
  const saved = save.data?.data;
  return (
    <>
      <Section title={text.address}>
        <form onSubmit={submit} className="flex max-w-2xl flex-col gap-4">
          <TextField
            label={text.url}
            hint={text.urlHint}
            type="url"
            required
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
          {save.error !== null && <ErrorNotice title={text.checkFailed} error={save.error} />}
          <Button type="submit" className="self-start" disabled={save.isPending}>
            {save.isPending ? text.checking : text.check}
          </Button>
        </form>
        <WarningNotice warnings={save.data?.warnings} />
      </Section>
      {saved !== undefined && (
        <Section title={saved.name ?? text.configure}>
          <DeployForm key={saved.id} what={{ component_id: saved.id }} props={saved.configurable_props} owner={{ component: saved.id }} />
        </Section>
      )}
    </>
  );
}
