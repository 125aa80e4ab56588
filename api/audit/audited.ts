import { HeadwaterError } from "../../domain/errors.ts";
import { isId, newId } from "../../domain/ids.ts";
import type { ApiContext, ApiOperation } from "../context.ts";
import type { AnonymousCall, Call, Input } from "../http/request/call.ts";
import { flag } from "../http/request/parameters.ts";
import type { Reply } from "../http/response/replies.ts";
import { parseRoute, type Change, type Operation } from "../http/routing/operation.ts";
import type { ApiPorts } from "../ports.ts";
import type { AuditActor, AuditEntry } from "./ports.ts";
import { notingStore, Subject } from "./subject.ts";

type AdminContext = Pick<ApiContext, "config" | "ports">;

/** Returns the operation of a user, which records each change that it makes. */
export function audited(operation: ApiOperation): ApiOperation {
  return recording<Call, ApiContext>(operation, actorOf, (context, call, subject, ports) => ({
    ...context,
    ports,
    access: context.access.noting((owner) => subject.noteOwner(owner)),
  }));
}

/** Returns the operation of an admin, which records each change that it makes. */
export function auditedAdmin(operation: Operation<AnonymousCall, AdminContext>): Operation<AnonymousCall, AdminContext> {
  return recording<AnonymousCall, AdminContext>(
    operation,
    ({ address }) => ({ kind: "admin", address }),
    (context, _call, _subject, ports) => ({ ...context, ports }),
  );
}

const actorOf = ({ user, key, sessionId, address }: Call): AuditActor => ({
  kind: "user",
  userId: user.id,
  keyId: key.id,
  keyName: key.name,
  sessionId,
  address,
});

function recording<Caller extends AnonymousCall, Context extends { readonly ports: ApiPorts }>(
  operation: Operation<Caller, Context>,
  actorOfCall: (call: Caller) => AuditActor,
  contextFor: (context: Context, call: Caller, subject: Subject, ports: ApiPorts) => Context,
): Operation<Caller, Context> {
  const { change, handle } = operation;
  if (change === undefined || handle === undefined) return operation;
  return {
    ...operation,
    async handle(call, context) {
      if (change.unlessDryRun === true && isDryRun(call)) return handle(call, context);
      const subject = new Subject(change.kind);
      const { ports } = context;
      const record = createRecord(operation, change, { call, actor: actorOfCall(call), subject, ports });
      const noting = { ...ports, store: notingStore(ports.store, subject), accounts: ports.accounts.recording((id) => record.entry(id)) };
      let reply: Reply;
      try {
        reply = await handle(call, contextFor(context, call, subject, noting));
      } catch (error) {
        // A deployment that failed has still changed the resource.
        if (subject.hasChanged) await record.store(undefined, error instanceof HeadwaterError ? error.code : "internal_error");
        throw error;
      }
      await record.store(reply);
      return reply;
    },
  };
}

/** An invalid value is refused by the operation. */
const isDryRun = ({ parameters }: AnonymousCall): boolean => flag.safeParse(parameters["dry_run"]).data === true;

interface Recorded {
  readonly call: AnonymousCall & Input;
  readonly actor: AuditActor;
  readonly subject: Subject;
  readonly ports: ApiPorts;
}

function createRecord(operation: Operation<never, never>, change: Change, { call, actor, subject, ports }: Recorded) {
  // `dropBody` removes the fields before a wait.
  const fields = Object.keys(call.fields).filter((name) => Object.hasOwn(operation.body?.shape ?? {}, name));
  const pathId = lastParameterOf(operation.route, call);
  const entry = (id: string | undefined, error: string | null = null): AuditEntry => {
    subject.isRecorded = true;
    const resourceId = (change.action === "create" ? (id ?? subject.id) : (pathId ?? id ?? subject.id)) ?? null;
    return {
      id: newId("auditEntry", ports.randomBytes),
      at: ports.clock.now(),
      owner: subject.owner ?? actor.userId ?? ownerOf(call, resourceId),
      operation: operation.id,
      action: change.action,
      kind: change.kind,
      resourceId,
      resourceName: subject.name ?? null,
      fields: fields.toSorted(),
      error,
      actor,
    };
  };
  return {
    /** The entry, for a caller that stores it with the change. */
    entry,
    /** Stores the entry unless it was stored with the change. The change is made: a failure to record it must not repeat it. */
    async store(reply: Reply | undefined, error?: string): Promise<void> {
      if (subject.isRecorded) return;
      const stored = entry(idIn(reply), error);
      await ports.auditLog
        .record(stored)
        .catch((failure: unknown) =>
          ports.log.error({ op: "audit.record", entry: stored, err: failure }, "a change is not in the audit log"),
        );
    },
  };
}

/** The last parameter of the path names what the operation changes, unless it creates. */
function lastParameterOf(route: Operation<never, never>["route"], call: AnonymousCall): string | undefined {
  const name = [...parseRoute(route).path.matchAll(/:(\w+)/g)].at(-1)?.[1];
  return name === undefined ? undefined : call.path[name];
}

/** Operations of admins name the owner in the path, or create it. */
function ownerOf({ path }: AnonymousCall, resourceId: string | null): string | null {
  const isOwner = (id: string): boolean => isId("user", id) || isId("organization", id);
  return [path["id"], resourceId].find((id) => typeof id === "string" && isOwner(id)) ?? null;
}

function idIn(reply: Reply | undefined): string | undefined {
  if (reply === undefined || !("body" in reply)) return undefined;
  const data: Readonly<Record<string, unknown>> = { ...reply.body.data };
  const id = data["id"] ?? data["user_id"];
  return typeof id === "string" ? id : undefined;
}
