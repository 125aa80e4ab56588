import type { ApiError } from "../client/errors.ts";

const tryAgain = "try again in a moment; `hw status` shows what is missing";
const wrongKey = "the API key is wrong, revoked or expired: `hw login` stores another, `hw profiles` shows which one is used";

/** What to do about an error, by its code. The message says it already of codes that are in neither table. */
const byCode: Readonly<Record<string, string>> = {
  scope_missing: "`hw keys list` shows the scopes of your keys",
  not_an_admin: "`hw orgs members` lists the admins",
  event_missing: "give --event, --event-id or --last",
  too_many_keys: "`hw keys revoke` revokes one",
  data_store_full: "`hw data-stores list` shows their sizes",
  variables_full: "`hw variables delete` deletes one",
  too_many_organizations: "`hw delete org/NAME` deletes one",
  quota_exceeded: "`hw usage` shows quotas and their use",
  unknown_prop: "`hw props` lists the props of a file, component or source",
  too_many_kills: "change the code: its runs ended their process",
  version_not_stored: "`hw debug --current` uses the code and props of now",
  run_failed: "`hw runs SOURCE --failed` shows why",
  configure_timeout: "try again in a moment: runners may be starting",
  dry_run_timeout: "try again in a moment: runners may be starting",
  test_timeout: "try again in a moment: runners may be starting",
  not_ready_in_time: "`hw describe` shows its state; try again in a moment",
};

const byStatus: Readonly<Record<number, string>> = {
  401: wrongKey,
  429: "wait a moment, then try again",
  502: tryAgain,
  503: tryAgain,
};

/** A hint at what to do, which names commands; undefined if there is nothing to add to the message. */
export function hintOf({ code, status, requestId }: ApiError): string | undefined {
  const hint = byCode[code] ?? byStatus[status];
  if (hint !== undefined || status < 500) return hint;
  return requestId === undefined ? "the server's log says more" : "the server's log has the same request id";
}
