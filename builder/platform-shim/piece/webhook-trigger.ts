import { isFields, isFunction, own, textOf, type Fields, type Self } from "./contract.ts";
import { aboutMember, ownNames, propsOf, type Described } from "./props.ts";
import { callMember, emitAll, enable, isTest, listenersOf, type TriggerCall } from "./trigger.ts";

/** A request as a source receives it. */
type Request = Fields;

interface Http {
  respond(response: unknown): void;
}

/** A trigger with a webhook as a source with an endpoint, which the piece registers with the service and removes. */
export function webhookSourceOf(described: Described, name: string, key: string): Fields {
  const names = ownNames(described);
  return {
    ...aboutMember(described, name, key),
    type: "source",
    dedupe: "unique",
    props: { ...propsOf(described), ...ownProps(described) },
    hooks: {
      async activate(this: Self): Promise<void> {
        await enable({ ...described, self: this }, false);
      },
      async deactivate(this: Self): Promise<void> {
        await callMember({ ...described, self: this }, "onDisable");
      },
    },
    async run(this: Self, event: Request | undefined | null): Promise<void> {
      const call = { ...described, self: this };
      if (event === undefined || event === null) return;
      if (isTest(event)) return emitAll(this, await callMember(call, "test"), true);
      if ("interval_seconds" in event) return void (await callMember(call, "onRenew"));
      await receive(call, event, this[names.http] as Http); // A prop of that type.
    },
  };
}

function ownProps(described: Described): Fields {
  const { member } = described;
  const names = ownNames(described);
  const renew = own(member["renewConfiguration"], "cronExpression");
  return {
    [names.db]: "$.service.db",
    [names.http]: answersItself(described) ? { type: "$.interface.http", customResponse: true } : "$.interface.http",
    ...(typeof renew === "string" ? { [names.timer]: { type: "$.interface.timer", label: "Renewal", default: { cron: renew } } } : {}),
    ...(isShared(member) && isFunction(described.piece.events?.["verify"])
      ? { [names.secret]: { type: "string", secret: true, optional: true, label: "Signing secret", description: secretHelp } }
      : {}),
  };
}

const secretHelp = "Secret with which the service signs the requests of your app. Without it, requests are not verified.";

/** Does its service send the events of all users of an app to one address? */
export const isShared = (member: Fields): boolean => member["type"] === "APP_WEBHOOK";

const handshakeOf = (member: Fields): string => textOf(own(member["handshakeConfiguration"], "strategy")) ?? "NONE";

/** Does the piece answer requests, instead of an empty 200? */
const answersItself = ({ member }: Described): boolean => isShared(member) || handshakeOf(member) !== "NONE";

async function receive(call: TriggerCall, event: Request, http: Http): Promise<void> {
  const payload = payloadOf(event);
  if (isShared(call.member)) return receiveShared(call, payload, http);
  if (isHandshake(call.member, payload)) {
    const response = await callMember(call, "onHandshake", { payload });
    return http.respond(responseOf(response));
  }
  if (answersItself(call)) http.respond({ status: 200 });
  emitAll(call.self, await callMember(call, "run", { payload }), true);
}

/** A request to the address of an app: the piece says whether it answers it, and what event it is. */
async function receiveShared(call: TriggerCall, payload: Fields, http: Http): Promise<void> {
  const { piece, self } = call;
  const secret = self[ownNames(call).secret];
  const { verify, parseAndReply } = piece.events ?? {};
  if (typeof secret === "string" && secret !== "" && isFunction(verify)) {
    const about = { webhookSecret: secret, payload, appWebhookUrl: own(http, "endpoint") };
    if ((await Reflect.apply(verify, piece.events, [about])) !== true) return http.respond({ status: 401 });
  }
  const parsed: unknown = isFunction(parseAndReply)
    ? await Reflect.apply(parseAndReply, piece.events, [{ payload, server: { publicUrl: "" } }])
    : {};
  const reply = own(parsed, "reply");
  http.respond(isFields(reply) ? responseOf(reply) : { status: 200 });
  if (!isFields(reply) && isListened(listenersOf(call), parsed)) emitAll(self, await callMember(call, "run", { payload }), true);
}

function isListened(listeners: unknown, parsed: unknown): boolean {
  const events = own(listeners, "events");
  const [event, identifier] = [own(parsed, "event"), own(parsed, "identifierValue")];
  const isOfEvent = !Array.isArray(events) || event === undefined || events.includes(event);
  return isOfEvent && (identifier === undefined || String(own(listeners, "identifierValue")) === String(identifier));
}

const payloadOf = ({ method, headers, query, body, bodyRaw }: Request): Fields => ({
  method,
  headers: headers ?? {},
  queryParams: query ?? {},
  body,
  rawBody: bodyRaw,
});

function isHandshake(member: Fields, payload: Fields): boolean {
  const name = textOf(own(member["handshakeConfiguration"], "paramName")) ?? "";
  switch (handshakeOf(member)) {
    case "HEADER_PRESENT":
      return own(payload["headers"], name.toLowerCase()) !== undefined;
    case "QUERY_PRESENT":
      return own(payload["queryParams"], name) !== undefined;
    case "BODY_PARAM_PRESENT":
      return own(payload["body"], name) !== undefined;
    default:
      return false;
  }
}

function responseOf(response: unknown): Fields {
  const { status = 200, headers = {}, body } = isFields(response) ? response : {};
  return { status, headers, body };
}
