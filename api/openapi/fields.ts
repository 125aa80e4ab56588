import { z } from "zod";
import { fieldParameters, pageParameters } from "../http/request/parameters.ts";
import { ownerParameters } from "../resources/access.ts";

/** In whose name: any operation on what somebody owns. */
export const owned = ownerParameters;

/** Pages of a list. */
export const pages = pageParameters.extend({ limit: pageParameters.shape.limit.meta({ default: 10 }) });

/** Pages of a list of the caller, or of the organization that `org_id` names. */
export const mine = pages.extend(owned.shape);

/** Pages of a list of events. */
export const eventPages = pageParameters.extend({
  limit: pageParameters.shape.limit.meta({ default: 100, description: "Items of a page, at most 100." }),
});

/** Which fields of `data` are answered: every operation that answers any. */
export const selected = fieldParameters;

/** Parameters that mean the same in most operations; the document has them once. */
export const commonParameters = z.object({ ...owned.shape, ...pages.shape, ...selected.shape });

/** What fields of requests mean, where their schemas do not say it themselves. */
export const meanings: Readonly<Record<string, string>> = {
  include: "Comma-separated fields of `data`: only these are answered.",
  exclude: "Comma-separated fields of `data`: these are not answered.",
  org_id: "Acts in the name of this organization, `o_…`, in place of the user.",
  workspace_id: "The same as org_id.",
  limit: "Items of a page, 10 unless given; more than 100 counts as 100.",
  after: "The page behind this cursor, an `end_cursor` of page_info.",
  before: "The page in front of this cursor, a `start_cursor` of page_info. Not beside after.",

  component_id: "A saved component, `sc_…`.",
  component_code: "The code of a component; with component_files, its entry.",
  component_files: "Texts by path.",
  component_entry: "Path of the file that exports the component; not needed when there is one file.",
  component_url: "Where to fetch the code; beside code, where it came from.",
  key: "Key of a component: of yours, else of the registry.",
  similarity_threshold: "Share of the words that must occur, from 0 to 1; 0.5 unless given.",
  app: "Name slug of an app, such as `github`.",
  type: "Only components of this type.",
  version: "The newest that says it is this version.",

  state: "Only sources in this state.",
  q: "Text that occurs in the name, the name_slug, the id or the key of the component, in any case.",
  component_key: "Only sources that run a component with this key.",

  name: "For people.",
  configured_props: "Values by name of the prop.",
  active: "False: it is paused.",
  ordered:
    "True: events arrive in the order of their commits, one at a time; each waits until the one before was delivered or became a dead letter.",
  emit_on_deploy: "False drops what the deploy hook emits.",
  ignore_hook_errors: "True: the deactivate hook is tried once, in place of three times.",
  prop_name: "A prop whose options are a function.",
  page: "From 0 on.",
  prev_context: "The context that the page before came with.",
  query: "What a person typed to search for: words of a name, key, description or app.",

  scopes: "What it may do: `read`, `write`; by default what the key may do that it is made with.",
  expires_at: "Epoch seconds; by default when the key does that it is made with.",
  username: "Unique: letters, digits, dots, dashes and underscores.",
  email: "Where they are reached.",
  orgname: "Unique: letters, digits, dots, dashes and underscores.",
  admins: "Ids of users, who then say who else belongs to it.",
  plan: "Name of a plan.",
  form: "What users are told: `free`, use of the day; `paid`, runs of the month.",
  daily_invocations_quota: "Runs; null: no limit.",
  daily_compute_time_quota: "Milliseconds; null: no limit.",
  role: "`admin` says who belongs to the organization.",

  event: "What run receives.",
  event_id: "Id of an event, `<epoch milliseconds>-<sequence>`.",
  dry_run: "True: it leaves nothing, and the answer says what it would have left.",
  failed: "True: only runs that failed; false: only the others.",
  event_name: "A channel; empty is the default one.",
  expand: "`event`: events whole, however large they are.",
  since: "From this time on, epoch milliseconds.",
  until: "Up to this time, epoch milliseconds.",
  start_id: "From this event on, itself included.",
  end_id: "Up to this event, itself included.",
  n: "The same as limit, and comes first.",
  replay: "Begins with the last events, so many.",

  credentials: "Texts by field.",
  oauth: "How the access token is refreshed.",
  force: "True: also while sources use it.",

  overlap_seconds: "For so long the key before signs as well.",
  outcome: "Only attempts that ended so.",
  deliveries: "Ids of deliveries; all dead letters when it is absent.",

  url: "http or https, with a host name.",
  description: "For people.",
  emitter_id: "A source or workflow, `dc_*` or `p_*` for all of yours, an organization, or your own id for all your `$errors` or `$logs`.",
  listener_id: "A webhook or a source.",
};
