import { useState } from "react";
import type { PropDefinition } from "../../api/prop-definition.ts";
import { Button } from "../button.tsx";
import { SelectField } from "../field.tsx";
import { AppDialog } from "./app-dialog.tsx";
import { text } from "./strings.ts";

interface AccountFieldProps {
  readonly prop: PropDefinition;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly accounts: readonly { readonly id: string; readonly name: string; readonly app: string }[];
  readonly error: string | undefined;
}

/** An app prop: one of the accounts, or a new one that is connected in place. */
export function AccountField({ prop, value, onChange, accounts, error }: AccountFieldProps) {
  const [isConnecting, setIsConnecting] = useState(false);
  const { app, label, description } = prop;
  const fitting = accounts.filter((account) => app === undefined || account.app === app);
  const current = typeof value === "object" && value !== null && "authProvisionId" in value ? String(value.authProvisionId) : "";
  const choose = (id: string): void => onChange(id === "" ? undefined : { authProvisionId: id });
  return (
    <div className="flex flex-col gap-2">
      <SelectField
        label={label}
        hint={description ?? text.choose}
        error={error}
        options={[["", text.noAccount], ...fitting.map(({ id, name }) => [id, name] as const)]}
        value={current}
        onChange={(event) => choose(event.target.value)}
      />
      {app !== undefined && (
        <Button className="self-start" onClick={() => setIsConnecting(true)}>
          {text.connect}
        </Button>
      )}
      {isConnecting && app !== undefined && (
        <AppDialog
          app={app}
          onClose={() => setIsConnecting(false)}
          onConnected={(id) => {
            choose(id);
            setIsConnecting(false);
          }}
        />
      )}
    </div>
  );
}
