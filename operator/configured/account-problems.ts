import type { AccountResource } from "../../crds/account.ts";
import { shortened } from "../controller/status.ts";

/** Whether a person must connect one of these accounts again, as a condition says it. */
export function connectedVerdict(accounts: readonly AccountResource[]) {
  const ended = accounts.filter(({ status }) => status.needsReconnect === true);
  return ended.length === 0
    ? ({ status: "True", reason: "AccountsConnected", message: "no account must be connected again" } as const)
    : ({ status: "False", reason: "AccountNeedsReconnect", message: shortened(ended.map(messageOf).join("; ")) } as const);
}

function messageOf({ metadata, spec, status }: AccountResource): string {
  const id = status.id ?? metadata.name;
  const name = spec.name === undefined ? "" : ` ("${spec.name}")`;
  return `account ${id}${name} of app ${spec.app} must be connected again: choose Reconnect on the page Accounts of the console, or run hw accounts reconnect ${id}`;
}
