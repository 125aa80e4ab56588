import { jsonStringifySafe } from "../json.ts";
import { isFields, isFunction, own, type Fields, type Self } from "./contract.ts";
import { authFrom } from "./auth.ts";
import { baseContext, noStore } from "./context.ts";
import { aboutMember, ownNames, propsOf, type Described } from "./props.ts";
import { valuesOf } from "./values.ts";

/** `$` of a step, as far as an action uses it. */
interface Step {
  respond(response: unknown): Promise<void>;
  readonly flow: {
    exit(reason?: string): void;
    rerun(ms?: number, context?: unknown): { readonly resume_url: string };
  };
  readonly context?: unknown;
}

/** What a run did beside returning a value. */
interface Effects {
  response?: unknown;
  isStopped: boolean;
}

/** An action of a piece as an action of ours: its result is that of the step. */
export function actionOf(described: Described, name: string, key: string): Fields {
  return {
    ...aboutMember(described, name, key),
    type: "action",
    props: propsOf(described),
    async run(this: Self, { $ }: { readonly steps: unknown; readonly $: Step }): Promise<unknown> {
      return runAction(this, $, described);
    },
  };
}

async function runAction(self: Self, $: Step, described: Described): Promise<unknown> {
  const { piece, member } = described;
  const auth = authFrom(piece, self[ownNames(described).app]);
  const effects: Effects = { isStopped: false };
  const context = {
    ...baseContext({ auth, propsValue: await valuesOf(self, described), store: noStore }),
    ...executionOf($),
    run: runOf($, effects),
    generateResumeUrl: () => {
      throw new Error(noResumeUrl);
    },
  };
  const { run } = member;
  const result = isFunction(run) ? await Reflect.apply(run, member, [context]) : undefined;
  if (effects.response !== undefined) await $.respond(responseOf(effects.response));
  if (effects.isStopped) $.flow.exit();
  return result === undefined ? undefined : plain(result);
}

/** Whether the step runs for the first time, or again after a wait. */
function executionOf($: Step): Fields {
  const run = own($.context, "run");
  const request = own(run, "callback_request");
  if (!isFields(request) && own(own(run, "context"), "hasWaited") !== true) return { executionType: "BEGIN" };
  const { body = {}, headers = {}, query } = isFields(request) ? request : {};
  return { executionType: "RESUME", resumePayload: { body, headers, queryParams: query ?? {} } };
}

const day = 86_400_000;

function runOf($: Step, effects: Effects): Fields {
  const wait = (resumeDateTime: unknown): string => {
    return $.flow.rerun(msUntil(resumeDateTime), { hasWaited: true }).resume_url;
  };
  return {
    id: "run",
    stop: (params?: unknown) => {
      effects.response = own(params, "response") ?? effects.response;
      effects.isStopped = true;
    },
    respond: (params?: unknown) => {
      effects.response = own(params, "response") ?? effects.response;
    },
    pause: (params?: unknown) => void wait(own(own(params, "pauseMetadata"), "resumeDateTime")),
    createWaitpoint: async (params?: unknown) => {
      const url = wait(own(params, "resumeDateTime"));
      const response = own(params, "responseToSend");
      if (response !== undefined) effects.response = response;
      const buildResumeUrl = ({ queryParams }: { queryParams?: Record<string, string> } = {}): string => withQuery(url, queryParams);
      return { id: "waitpoint", resumeUrl: url, buildResumeUrl };
    },
    waitForWaitpoint: () => undefined,
  };
}

/** Without a time, the wait is for a request, and ends after a day. */
function msUntil(time: unknown): number {
  if (time === undefined || time === null) return day;
  const at = typeof time === "string" ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(at)) throw new Error(`this action waits until ${jsonStringifySafe(time)?.slice(0, 100)}, which is no date`);
  return Math.max(0, at - Date.now());
}

const noResumeUrl =
  "this action asks for its resume URL before it waits, and a step has one only once it waits: use an action that creates a waitpoint, or write a step that sends $.flow.suspend().resume_url";

function withQuery(url: string, parameters: Record<string, string> | undefined): string {
  const query = new URLSearchParams(parameters).toString();
  return query === "" ? url : `${url}${url.includes("?") ? "&" : "?"}${query}`;
}

function responseOf(response: unknown): Fields {
  const { status = 200, headers, body } = isFields(response) ? response : {};
  return { status, headers: headers ?? {}, body };
}

/** A result as JSON: clients of services return objects that refer to themselves. */
function plain(result: unknown): unknown {
  const text = jsonStringifySafe(result);
  return text === undefined ? undefined : JSON.parse(text);
}
